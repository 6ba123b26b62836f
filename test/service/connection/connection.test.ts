import { beforeEach, expect, it } from 'vitest';
import { createConnections } from '../../../lib/service/connection/connection.ts';
import { validate } from '../../../lib/service/partner/operation.ts';
import { partnerFromEnvironment } from '../../../local/partners.ts';
import { startRelay, type TestRelay } from '../../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const inTheClear = { baseUrl: 'http://pm.internal:8080', apiKey: 'pk_example', secretKey: 'sk_example' };

/** The address of a connection with that secret. */
async function urlWith(secret: object): Promise<string | undefined> {
  const { stack, stores, runtime, clock } = relay;
  stack.secrets.put(`${stack.secretPrefix}partner/main`, secret);
  const { config, randomBytes: random, fetch } = runtime;
  const connections = createConnections({ config, secrets: stores.secrets, clock: () => clock.now, random, fetch });
  return (await connections('main')?.client())?.sign(validate, {}).url;
}

it.each([true, 'true'])('a connection is plain http if its secret allows it: %j', async (allowInsecureHttp) => {
  expect(await urlWith({ ...inTheClear, allowInsecureHttp })).toBe('http://pm.internal:8080/api/v1/partner/validate');
});

it.each([undefined, false, 'false'])('a connection is not plain http otherwise: %j', async (allowInsecureHttp) => {
  await expect(urlWith({ ...inTheClear, allowInsecureHttp })).rejects.toThrow('set allowInsecureHttp in the secret');
});

it('a secret with an unknown permission is refused with the name of the field', async () => {
  const maybe = urlWith({ ...inTheClear, allowInsecureHttp: 'maybe' });
  await expect(maybe).rejects.toThrow(/invalid fields: allowInsecureHttp;/);
});

it('the environment allows plain http with its own variable', () => {
  const variables = { PARTNER_BASE_URL: 'http://pm.internal', PARTNER_API_KEY: 'pk', PARTNER_SECRET_KEY: 'sk' };
  expect(partnerFromEnvironment(variables)).not.toHaveProperty('allowInsecureHttp');
  const allowed = partnerFromEnvironment({ ...variables, PARTNER_ALLOW_INSECURE_HTTP: 'true' });
  expect(allowed).toHaveProperty('allowInsecureHttp', true);
});
