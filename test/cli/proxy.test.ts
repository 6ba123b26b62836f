import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPANY_CA, type ConnectProxy, startConnectProxy, startTlsFront, type TlsFront } from '../connect-proxy.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { type StageStandIn, startStageStandIn } from './stage-stand-in.ts';

let relay: TestRelay;
let aws: StageStandIn;
let proxy: ConnectProxy;
let fronts: Record<'CloudFormation' | 'STS' | 'Lambda' | 'DynamoDB' | 'Secrets Manager' | 'the service', TlsFront>;
let folder: string;

beforeAll(async () => {
  const { github: _, slack: __, ...config } = exampleConfig();
  [relay, proxy] = await Promise.all([startRelay({ tableOnWire: true }), startConnectProxy()]);
  relay.clock.now = Date.now();
  const { variables, secrets, secretPrefix } = relay.stack;
  aws = await startStageStandIn(relay);
  aws.identity = {
    status: 200,
    body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${variables.AWS_ACCESS_KEY_ID}</AccessKeyId>
      <SecretAccessKey>${variables.AWS_SECRET_ACCESS_KEY}</SecretAccessKey><SessionToken>of the tests</SessionToken>
      <Expiration>2126-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
      </AssumeRoleWithWebIdentityResponse>`,
  };
  const answering = String(aws.variables.AWS_ENDPOINT_URL_STS);
  fronts = {
    CloudFormation: await startTlsFront(answering),
    STS: await startTlsFront(answering),
    Lambda: await startTlsFront(answering),
    DynamoDB: await startTlsFront(variables.AWS_ENDPOINT_URL_DYNAMODB),
    'Secrets Manager': await startTlsFront(variables.AWS_ENDPOINT_URL_SECRETS_MANAGER),
    'the service': await startTlsFront(relay.sandbox.url),
  };
  const [key] = relay.sandbox.keys;
  secrets.put(`${secretPrefix}partner/main`, { baseUrl: fronts['the service'].url, ...key });
  folder = mkdtempSync(join(tmpdir(), 'behind-a-proxy-'));
  writeFileSync(join(folder, 'relay.config.mjs'), `export default ${JSON.stringify(config)}`);
  writeFileSync(join(folder, 'token'), 'of the tests');
});

afterAll(async () => {
  for (const { close } of [...Object.values(fronts), proxy]) close();
  rmSync(folder, { recursive: true });
  await Promise.all([aws.close(), relay.close()]);
});

describe('the command line behind a proxy', () => {
  it.each([
    ['HTTPS_PROXY', 'NO_PROXY'],
    ['https_proxy', 'no_proxy'],
  ])(
    'calls AWS and the service through %s, whatever finds its credentials, and the hosts that %s names directly',
    async (through, except) => {
      proxy.tunnels.splice(0);
      for (const front of Object.values(fronts)) front.taken = 0;
      const child = spawn(process.execPath, ['cli/bin.js', '--stage', 'test', 'doctor'], {
        env: {
          AWS_REGION: 'local',
          AWS_CONFIG_FILE: join(folder, 'none'),
          AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
          AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/operators',
          AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
          AWS_ENDPOINT_URL_CLOUDFORMATION: fronts.CloudFormation.url,
          AWS_ENDPOINT_URL_STS: fronts.STS.url,
          AWS_ENDPOINT_URL_LAMBDA: fronts.Lambda.url,
          AWS_ENDPOINT_URL_DYNAMODB: fronts.DynamoDB.url,
          AWS_ENDPOINT_URL_SECRETS_MANAGER: fronts['Secrets Manager'].url,
          NODE_EXTRA_CA_CERTS: COMPANY_CA,
          RELAY_CONFIG: join(folder, 'relay.config.mjs'),
          [through]: proxy.url,
          [except]: fronts.Lambda.host,
        },
      });
      const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(printed + errors).toContain('main: credentials');
      for (const [called, { host, taken }] of Object.entries(fronts)) {
        expect(taken, called).toBeGreaterThan(0);
        const tunnelled = proxy.tunnels.filter((tunnel) => tunnel === host).length;
        expect(tunnelled, called).toBe(called === 'Lambda' ? 0 : taken);
      }
    },
  );
});
