import { describe, expect, it } from 'vitest';
import { nonceMoments } from '../../sandbox/nonces.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { call, encrypt, noon, send, sign, startAtNoon } from './signed-request.ts';

const minuteMs = 60_000;
const newDefect = { project_id: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01', title: 'Cart is empty' };

describe('the headers', () => {
  it.each([
    ['no API key', { headers: { 'x-api-key': '' } }, 401, 'Unknown or revoked key'],
    ['a signature of other length', { headers: { 'x-signature': 'é'.repeat(64) } }, 401, 'Invalid signature'],
    ['a timestamp 5 minutes old', { at: noon - 5 * minuteMs }, 200, 'OK'],
    ['a timestamp older than 5 minutes', { at: noon - 5 * minuteMs - 1000 }, 401, 'Timestamp outside window'],
    ['a timestamp 5 minutes ahead', { at: noon + 5 * minuteMs }, 200, 'OK'],
    ['a timestamp further ahead', { at: noon + 5 * minuteMs + 1000 }, 401, 'Timestamp outside window'],
    ['a timestamp in milliseconds', { headers: { 'x-timestamp': `${noon}` } }, 401, 'Timestamp outside window'],
    ['a nonce of 8 characters', { nonce: '12345678' }, 200, 'OK'],
    ['a nonce of 7 characters', { nonce: '1234567' }, 401, 'Invalid signature'],
    ['another Accept', { headers: { accept: '*/*' } }, 422, 'accept must be application/json'],
    ['plain text', { headers: { 'content-type': 'text/plain' } }, 422, 'content-type must be application/json'],
  ])('with %s', async (_, signing, status, message) => {
    const { sandbox } = await startAtNoon();
    const answer = await call(sandbox, '/validate', {}, signing);
    expect(answer).toMatchObject({ status, json: { success: status === 200, message } });
    expect(sandbox.audit).toMatchObject([
      { ip: '127.0.0.1', endpoint: '/validate', status, reason: status === 200 ? null : message },
    ]);
  });
});

it.each([
  ['/test-cases/list', {}, 200],
  ['/work-items/checklist/groups/attach', {}, 200],
  ['/nothing/list', {}, 404],
  ['/defects', {}, 404],
  ['/nothing/list', { headers: { 'x-api-key': 'pk_other' } }, 401],
  ['/test-cases/list', { headers: { 'x-signature': 'no' } }, 401],
] as const)('a path that is not shown, %s with %o: %i', async (path, signing, status) => {
  const { sandbox } = await startAtNoon();
  const { json, ...answer } = await call(sandbox, path, { any: 1 }, signing);
  expect(answer.status).toBe(status);
  expect(json.success).toBe(status === 200);
});

describe('the payload', () => {
  it.each([
    ['a body that is not JSON', 'nonsense', 'The body is not JSON'],
    ['a body that is no object', '[]', 'The body is not an object'],
    ['no encrypted_data', '{}', 'encrypted_data is required'],
    ['encrypted_data that is not Base64', '{"encrypted_data":"%%%"}', 'encrypted_data is not Base64'],
    ['a ciphertext without blocks', '{"encrypted_data":"AAAA"}', 'encrypted_data cannot be decrypted'],
    ['a payload that is not JSON', { encrypted: 'nonsense' }, 'The decrypted payload is not JSON'],
    ['a payload that is no object', { encrypted: '[1]' }, 'The decrypted payload is not an object'],
  ])('is refused when there is %s', async (_, outer, message) => {
    const { sandbox } = await startAtNoon();
    const body = typeof outer === 'string' ? outer : JSON.stringify({ encrypted_data: encrypt(outer.encrypted) });
    expect(await call(sandbox, '/tasks/list', {}, { body })).toMatchObject({ status: 422, json: { message } });
    expect(await call(sandbox, '/defects/update', {}, { body })).toMatchObject({ status: 400, json: { message } });
  });
});

it('a body that is too large is refused, and is in the audit trail', async () => {
  const { sandbox } = await startAtNoon();
  const answer = await call(sandbox, '/defects/create', newDefect, { body: 'x'.repeat(11 * 1024 * 1024) });
  expect(answer).toMatchObject({ status: 413, json: { success: false, message: 'Payload too large' } });
  expect(sandbox.audit).toMatchObject([{ endpoint: '/defects/create', status: 413, reason: 'Payload too large' }]);
  expect(sandbox.requests).toBe(1);
});

describe('the nonce', () => {
  it('is remembered for 10 minutes, per key', async () => {
    const other = { apiKey: 'pk_other', secretKey: 'sk_other', scopes: ['*'] };
    const { sandbox, time } = await startAtNoon({ keys: [defaultKey, other] });
    const again = (signing = {}) => call(sandbox, '/validate', {}, { nonce: 'one-nonce', at: time.now, ...signing });
    expect((await again()).status).toBe(200);
    expect((await again({ key: other })).status).toBe(200);
    time.now += 10 * minuteMs;
    expect(await again()).toMatchObject({ status: 401, json: { message: 'Nonce already used' } });
    time.now += 1;
    expect((await again()).status).toBe(200);
  });

  it.each(nonceMoments)('remembered %s, serves one of two requests at the same time', async (nonceMoment) => {
    const { sandbox } = await startAtNoon({ nonceMoment });
    sandbox.setFault({ kind: 'latency', ms: 5, when: 'before work' });
    const signed = sign(sandbox.url, '/defects/create', newDefect);
    const answers = await Promise.all([send(signed), send(signed)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401]);
  });
});
