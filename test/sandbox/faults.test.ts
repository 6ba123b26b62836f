import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../sandbox/faults.ts';
import { nonceMoments } from '../../sandbox/nonces.ts';
import { call, send, sign, startAtNoon } from './signed-request.ts';

const newDefect = { project_id: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', title: 'Cart is empty' };

describe('a fault', () => {
  it.each<[string, Fault, number, string, RegExp, boolean]>([
    ['500 before the work', { kind: 'server-error' }, 500, 'application/json', /Server Error/, false],
    ['500 after the work', { kind: 'server-error', when: 'after work' }, 500, 'application/json', /Server Error/, true],
    ['429 storm', { kind: 'rate-limited' }, 429, 'application/json', /Rate limit/, false],
    ['maintenance page', { kind: 'maintenance' }, 503, 'text/html; charset=utf-8', /<h1>/, false],
    ['redirect to a login', { kind: 'login-redirect' }, 302, 'text/html; charset=utf-8', /doctype/, false],
    ['empty body', { kind: 'empty-body' }, 201, 'application/json', /^$/, true],
    ['empty body, in front', { kind: 'empty-body', when: 'on arrival' }, 200, 'application/json', /^$/, false],
    ['body that is not JSON', { kind: 'not-json' }, 201, 'application/json', /:$/, true],
    ['revoked key', { kind: 'key-revoked' }, 401, 'application/json', /Unknown or revoked key/, false],
    ['clock 400 s ahead', { kind: 'clock-skew', seconds: 400 }, 401, 'application/json', /Timestamp outside/, false],
    ['clock 400 s behind', { kind: 'clock-skew', seconds: -400 }, 401, 'application/json', /Timestamp outside/, false],
    ['latency', { kind: 'latency', ms: 1, toMs: 3 }, 201, 'application/json', /Cart/, true],
    ['latency after the work', { kind: 'latency', ms: 1, when: 'after work' }, 201, 'application/json', /Cart/, true],
  ])('%s', async (_, fault, status, contentType, text, carriedOut) => {
    const { sandbox } = await startAtNoon();
    sandbox.setFault(fault);
    const answer = await call(sandbox, '/defects/create', newDefect);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, contentType]);
    expect(answer.text).toMatch(text);
    expect(sandbox.data.defects).toHaveLength(carriedOut ? 2 : 1);
    expect(sandbox.audit).toHaveLength(1);
    expect(sandbox.audit[0]?.status).toBe(status);
  });

  it.each(
    nonceMoments.flatMap((moment) => [
      { moment, when: 'before work' as const, resent: moment === 'after work' ? 201 : 401 },
      { moment, when: 'after work' as const, resent: 401 },
    ]),
  )(
    'cut $when with the nonce remembered $moment answers the resent bytes with $resent',
    async ({ moment, when, resent }) => {
      const { sandbox } = await startAtNoon({ nonceMoment: moment });
      sandbox.setFault({ kind: 'cut', when, times: 1 });
      const signed = sign(sandbox.url, '/defects/create', newDefect);
      await expect(send(signed)).rejects.toThrow('fetch failed');
      expect((await send(signed)).status).toBe(resent);
    },
  );

  it('befalls the operation, the number of requests and the ones after those skipped', async () => {
    const { sandbox } = await startAtNoon();
    sandbox.setFault({ kind: 'server-error', operation: '/validate', skip: 1, times: 2 });
    const statuses: number[] = [];
    for (const operation of ['/validate', '/users/list', '/validate', '/users/list', '/validate', '/validate']) {
      statuses.push((await call(sandbox, operation, {})).status);
    }
    expect(statuses).toEqual([200, 200, 500, 200, 500, 200]);
  });

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
    ['without the key', {}, 401],
    ['with another key', { authorization: 'Bearer 0123456789' }, 401],
    ['from a web page', { origin: 'https://attacker.example' }, 403],
    ['at an address of a web page', { host: 'attacker.example' }, 403],
  ])('is not set %s', async (_, headers, expected) => {
    const { sandbox } = await startAtNoon();
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const all = { authorization: `Bearer ${sandbox.controlKey}`, ...headers };
    request(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers: expected === 401 ? headers : all }, (answer) =>
      resolve(answer.statusCode),
    )
      .once('error', reject)
      .end('{"kind":"maintenance"}');
    expect(await promise).toBe(expected);
    expect((await call(sandbox, '/validate', {})).status).toBe(200);
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
