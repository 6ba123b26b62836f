import { describe, expect, it } from 'vitest';
import { BaseUrlError, partnerRoot } from '../../../lib/service/partner/base-url.ts';
import { createPartnerClient } from '../../../lib/service/partner/client.ts';
import { validate } from '../../../lib/service/partner/operation.ts';
import { clientAtNoon, sandboxAndClient } from './client-at-noon.ts';

describe('a base URL', () => {
  it.each([
    ['https://pm.example.com', 'https://pm.example.com/api/v1/partner'],
    ['https://pm.example.com/', 'https://pm.example.com/api/v1/partner'],
    ['https://pm.example.com///', 'https://pm.example.com/api/v1/partner'],
    ['https://pm.example.com:8443', 'https://pm.example.com:8443/api/v1/partner'],
    ['https://pm.example.com:443', 'https://pm.example.com/api/v1/partner'],
    ['HTTPS://PM.example.com/Tools', 'https://pm.example.com/Tools/api/v1/partner'],
    ['https://pm.example.com/pm', 'https://pm.example.com/pm/api/v1/partner'],
    ['https://pm.example.com:8443/tools/pm/', 'https://pm.example.com:8443/tools/pm/api/v1/partner'],
    ['https://pm.example.com/two words', 'https://pm.example.com/two%20words/api/v1/partner'],
    ['https://pm.example.com/api/v1/partner', 'https://pm.example.com/api/v1/partner'],
    ['https://pm.example.com/pm/api/v1/partner/', 'https://pm.example.com/pm/api/v1/partner'],
    ['http://localhost:8080', 'http://localhost:8080/api/v1/partner'],
    ['http://127.0.0.1:8080/pm', 'http://127.0.0.1:8080/pm/api/v1/partner'],
    ['http://127.1.2.3', 'http://127.1.2.3/api/v1/partner'],
    ['http://[::1]:8080', 'http://[::1]:8080/api/v1/partner'],
  ])('the base URL %s leads to %s', (baseUrl, root) => {
    expect(partnerRoot(baseUrl)).toBe(root);
  });

  it.each([
    ['', 'is not a URL'],
    ['pm.example.com', 'is not a URL'],
    ['/pm', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['http://pm.example.com', 'is not https'],
    ['http://192.168.0.10:8080', 'is not https'],
    ['http://localhost.example.com', 'is not https'],
    ['http://127.0.0.1.example.com', 'is not https'],
    ['http://0.0.0.0', 'is not https'],
    ['http://[::2]', 'is not https'],
    ['ftp://pm.example.com', 'must begin with https://'],
    ['ws://localhost', 'must begin with https://'],
    ['localhost:3000', 'must begin with https://'],
    ['pm.example.com:8443', 'must begin with https://'],
    ['https://mira@pm.example.com', 'must not carry credentials'],
    ['https://:canary@pm.example.com', 'must not carry credentials'],
    ['http://mira:canary@localhost', 'must not carry credentials'],
    ['https://pm.example.com?tenant=canary', 'must not carry a query or a fragment'],
    ['https://pm.example.com/pm#canary', 'must not carry a query or a fragment'],
  ])('the base URL "%s" is refused because it %s', (baseUrl, fault) => {
    const expected = 'expected the scheme and host of the instance, such as https://pm.example.com';
    const create = () => createPartnerClient({ baseUrl, apiKey: 'pk_example', secretKey: 'sk_example' });
    for (const refused of [() => partnerRoot(baseUrl), create]) {
      expect(refused).toThrow(BaseUrlError);
      for (const part of [fault, expected]) expect(refused).toThrow(part);
      expect(refused).toThrow(/^(?!.*canary)/s);
    }
  });

  it('a base URL may be plain HTTP outside loopback only if allowed', () => {
    const baseUrl = 'http://pm.internal:8080';
    expect(partnerRoot(baseUrl, { allowInsecureHttp: true })).toBe(`${baseUrl}/api/v1/partner`);
    expect(() => partnerRoot(baseUrl)).toThrow('set allowInsecureHttp in the secret');
    const options = { baseUrl, apiKey: 'pk_example', secretKey: 'sk_example', allowInsecureHttp: true };
    expect(createPartnerClient(options).sign(validate, {}).url).toBe(`${baseUrl}/api/v1/partner/validate`);
    expect(() => partnerRoot('ftp://pm.internal', { allowInsecureHttp: true })).toThrow(BaseUrlError);
  });

  it.each([
    ['', ''],
    ['', '/'],
    ['/pm', ''],
    ['/pm', '/api/v1/partner/'],
    ['/two%20words', ''],
  ])('a base URL of an instance under "%s" works with "%s" after it', async (basePath, behind) => {
    const { sandbox } = await sandboxAndClient({ basePath });
    const result = await clientAtNoon(sandbox.url + behind).call(validate, { works: true });
    expect(result).toMatchObject({ status: 200, data: { works: true } });
  });
});
