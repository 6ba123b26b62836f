import { describe, expect, it } from 'vitest';
import { call, startAtNoon } from './signed-request.ts';

describe('a fault', () => {
  it('is set, listed and cleared over HTTP', async () => {
    const { sandbox } = await startAtNoon();
    const control = async (method: string, body?: string) => {
      const response = await fetch(`${sandbox.url}/sandbox/faults`, {
        method,
        headers: { authorization: `Bearer ${sandbox.controlKey}` },
        ...(body === undefined ? {} : { body }),
      });
      return [response.status, await response.json()];
    };
    const fault = { kind: 'cut', when: 'after work', skip: 1, times: 3 };
    expect(await control('POST', JSON.stringify(fault))).toEqual([201, [fault]]);
    await call(sandbox, '/validate', {});
    expect(await control('GET')).toEqual([200, [{ ...fault, skip: 0 }]]);
    expect(await control('DELETE')).toEqual([200, []]);
    expect(await control('PUT')).toEqual([404, { error: 'There is no PUT /sandbox/faults' }]);
  });

  it.each([
    ['{', /^The body is not JSON$/],
    ['[]', /^The body is not an object$/],
    ['{"kind":"toString"}', /^kind: expected one of latency, cut, /],
    ['{"kind":"latency"}', /^ms: /],
    ['{"kind":"latency","ms":1e12}', /^ms: /],
    ['{"kind":"cut","seconds":3}', /seconds/],
    ['{"kind":"cut","when":"later"}', /^when: .*on arrival/],
    ['{"kind":"cut","times":0,"operation":"defects"}', /operation: .*times: |times: .*operation: /],
  ])('is refused over HTTP: %s', async (body, error) => {
    const { sandbox } = await startAtNoon();
    const headers = { authorization: `Bearer ${sandbox.controlKey}` };
    const response = await fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
  });
});
