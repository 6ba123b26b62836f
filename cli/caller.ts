import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { awsClient } from './aws.ts';
import { reach } from './reach.ts';

/** The API version of the AWS Security Token Service. */
const VERSION = '2011-06-15';

/**
 * Who the AWS credentials of this process belong to: `arn:aws:sts::111122223333:assumed-role/Operators/mira`. AWS
 * answers this for everyone, even without any other permission.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 *
 * @throws {Error} without credentials, or if AWS refuses them
 */
export async function callerArn(): Promise<string> {
  // This client only finds the credentials and signs: the SDK has a signer for every service, and STS is not a client here.
  const { config } = new CloudFormationClient(awsClient());
  const region = await config.region();
  const url = new URL(stsEndpoint(region));
  const body = new URLSearchParams({ Action: 'GetCallerIdentity', Version: VERSION }).toString();
  const signer = await config.signer({ name: 'sigv4', signingName: 'sts', signingRegion: region, properties: {} });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    path: url.pathname,
    query: {},
    headers: { host: url.host, 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body,
  });
  const signal = AbortSignal.timeout(ON_COMMAND.tryMs);
  const response = await reach(url.href, { method: 'POST', headers, body, signal });
  const answer = await response.text();
  const [, arn] = /<Arn>([^<]+)<\/Arn>/.exec(answer) ?? [];
  if (response.ok && arn !== undefined) return arn;
  const [, message = `it answered ${response.status}`] = /<Message>([^<]+)<\/Message>/.exec(answer) ?? [];
  throw new Error(`AWS does not say who you are: ${message}`);
}

function stsEndpoint(region: string): string {
  const { AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL } = process.env;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return AWS_ENDPOINT_URL_STS || AWS_ENDPOINT_URL || `https://sts.${region}.${domain}`;
}
