import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPartnerClient } from '../../../lib/service/partner/client.ts';
import { encryptionKey, encryptPayload } from '../../../lib/service/partner/encryption.ts';
import { PartnerRefusal } from '../../../lib/service/partner/errors.ts';
import { rawOperation, validate } from '../../../lib/service/partner/operation.ts';
import {
  canonicalString,
  packBody,
  type SignedRequest,
  sign,
  signRequest,
  unpackBody,
} from '../../../lib/service/partner/signed-request.ts';
import { failureOf, sandboxAndClient } from './client-at-noon.ts';
import vectors from './vectors.json' with { type: 'json' };

/** vectors.md says how the vectors were made, and how to make them again. */
describe.each(vectors)('the vector "$name"', (vector) => {
  const { path, timestampSeconds, nonce, body, apiKey, secretKey, url } = vector;
  const key = encryptionKey(secretKey);
  const iv = Buffer.from(vector.iv, 'hex');
  const payload = JSON.parse(vector.payload);
  const signed = {
    url,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'x-timestamp': String(timestampSeconds),
      'x-nonce': nonce,
      'x-signature': vector.signature,
    },
    body,
  };

  it('the vector has the key, ciphertext, canonical string and signature that openssl made', () => {
    expect(key.export().toString('hex')).toBe(vector.encryptionKey);
    expect(encryptPayload(payload, key, iv)).toBe(vector.encryptedData);
    expect(canonicalString({ path, timestampSeconds, nonce, body })).toBe(vector.canonicalString);
    expect(sign({ path, timestampSeconds, nonce, body }, secretKey)).toBe(vector.signature);
  });

  it.each([
    ['a clock that is right', 0],
    ['a clock that is 90 seconds behind', 90],
    ['a clock that is 90 seconds ahead', -90],
  ])('a body with %s is signed completely', (_, clockOffsetSeconds) => {
    // The last millisecond of the second, because a timestamp is never rounded up.
    const now = (timestampSeconds - clockOffsetSeconds) * 1000 + 999;
    expect(
      signRequest({ url, apiKey, secretKey, encryptionKey: key, payload, now, clockOffsetSeconds, nonce, iv }),
    ).toEqual({ ...signed, signedAt: now });
  });

  it('a client with fixed clock and randomness produces the vector', () => {
    const [baseUrl = '', operation = ''] = url.split('/api/v1/partner/');
    const now = timestampSeconds * 1000;
    const client = createPartnerClient({
      baseUrl,
      apiKey,
      secretKey,
      clock: () => now,
      random: (size) => (size === iv.length ? iv : Buffer.from(nonce, 'hex')),
    });
    expect(client.sign(rawOperation(operation), payload)).toEqual({ ...signed, signedAt: now });
  });
});

const unlimited = { rateLimit: { perMinute: 100_000, perDay: 100_000 } };

/** Any UTF-16, with unpaired surrogates, which JSON must escape. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
);
const { object: anyPayload } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  // A record's schema accepts every name except this one.
  object: fc.dictionary(
    anyText.filter((name) => name !== '__proto__'),
    tie('value'),
    { maxKeys: 4 },
  ),
}));

it('the service returns any payload unchanged', async () => {
  const { sandbox, client } = await sandboxAndClient(unlimited);
  await fc.assert(
    fc.asyncProperty(anyPayload, async (payload) => {
      const { data } = await client.call(validate, payload);
      // JSON turns -0 into 0.
      expect(data).toEqual(JSON.parse(JSON.stringify(payload)));
    }),
    { numRuns: 50 },
  );
  expect(sandbox.audit.every(({ status }) => status === 200)).toBe(true);
});

type Part = 'body' | 'x-signature' | 'x-timestamp' | 'x-nonce';

function partOf(request: SignedRequest, part: Part): string {
  return part === 'body' ? request.body : (request.headers[part] ?? '');
}

function withPart(request: SignedRequest, part: Part, value: string): SignedRequest {
  if (part === 'body') return { ...request, body: value };
  return { ...request, headers: { ...request.headers, [part]: value } };
}

it.each<{ part: Part; reasons: readonly string[] }>([
  { part: 'body', reasons: ['invalid signature'] },
  { part: 'x-signature', reasons: ['invalid signature'] },
  { part: 'x-timestamp', reasons: ['invalid signature', 'timestamp outside window'] },
  { part: 'x-nonce', reasons: ['invalid signature'] },
])('any changed byte of the $part is refused', async ({ part, reasons }) => {
  const { sandbox, client } = await sandboxAndClient(unlimited);
  const printable = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
  await fc.assert(
    fc.asyncProperty(fc.nat(), printable, async (anywhere, byte) => {
      const request = client.sign(validate, { text: 'Grüße' });
      const value = partOf(request, part);
      const at = anywhere % value.length;
      fc.pre(value[at] !== byte);
      const error = await failureOf(
        client.send(validate, withPart(request, part, value.slice(0, at) + byte + value.slice(at + 1))),
      );
      expect(error).toBeInstanceOf(PartnerRefusal);
      expect(error).toMatchObject({ status: 401, reason: expect.toBeOneOf([...reasons]) });
      // The unchanged request is accepted, so the byte alone causes the refusal.
      expect((await client.send(validate, request)).status).toBe(200);
    }),
    { numRuns: 16 },
  );
  expect(sandbox.requests).toBe(32);
});

describe('a packed body', () => {
  it('a packed body unpacks to the same body, and is a quarter smaller', () => {
    const key = encryptionKey('secret');
    const signing = { url: 'https://pm.example/api', apiKey: 'pk', secretKey: 'secret', encryptionKey: key };
    fc.assert(
      fc.property(fc.jsonValue(), fc.uint8Array({ minLength: 16, maxLength: 16 }), (payload, iv) => {
        const at = { now: 0, clockOffsetSeconds: 0, nonce: 'a-nonce-1' };
        const { body } = signRequest({ ...signing, payload, ...at, iv });
        const packed = packBody(body);
        expect(unpackBody(packed)).toBe(body);
        expect(packed).toBeInstanceOf(Uint8Array);
        expect(packed.length).toBeLessThanOrEqual((body.length * 3) / 4);
      }),
    );
  });

  it('any other body unpacks to the same body', () => {
    const almost = fc
      .tuple(fc.base64String(), fc.string({ maxLength: 3 }))
      .map(([data, more]) => `{"encrypted_data":"${data}${more}"}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), almost), (body) => {
        expect(unpackBody(packBody(body))).toBe(body);
      }),
    );
  });
});
