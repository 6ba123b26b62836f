import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readCertificates } from '../../lib/config/ca-file.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { trustCaFile } from '../../local/trust.ts';
import { newFolder } from '../new-folder.ts';

const pem = (name: string) => readFileSync(join(import.meta.dirname, '..', 'company-ca', name));

it('the caFile lets this process call a service with a certificate of that authority', async () => {
  const server = createServer({ cert: pem('server.pem'), key: pem('server.key') }, (_, response) =>
    response.setHeader('connection', 'close').end('inside'),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const call = async () => (await fetch(url)).text();
  await expect(call()).rejects.toMatchObject({ cause: { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' } });

  trustCaFile(defineConfig({ connections: { main: {} }, caFile: 'test/company-ca/ca.pem' }));
  expect(await call()).toBe('inside');
  server.close();
});

it.each([
  ['is missing', undefined, /ENOENT/],
  ['has no certificate', 'Dear colleagues,', /it has no certificate in PEM/],
  ['is malformed', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /cannot be used: /],
])('a caFile is refused if it %s', async (_, text, reason) => {
  const file = join(newFolder(), 'ca.pem');
  if (text !== undefined) writeFileSync(file, text);
  expect(() => readCertificates(file)).toThrow(reason);
});
