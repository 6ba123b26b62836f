import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { awsClient } from './aws.ts';
import { reach } from './reach.ts';

export interface Question {
  /** The name in its address and its signature: `sts` */
  service: string;
  /** By default the region of this process. */
  region?: string;
  path?: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Sends one request to an AWS service for which the project has no client.
 *
 * @throws {Error} without credentials, or if the service cannot be reached
 */
export async function askAws({ service, region, path = '/', headers, body }: Question): Promise<Response> {
  // The client only supplies the credentials and signs: its signer works for every service.
  const { config } = new CloudFormationClient(awsClient());
  const signingRegion = region ?? (await config.region());
  const url = new URL(path, endpointOf(service, signingRegion));
  const signer = await config.signer({ name: 'sigv4', signingName: service, signingRegion, properties: {} });
  const signed = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    path: url.pathname,
    query: {},
    headers: { ...headers, host: url.host },
    body,
  });
  const signal = AbortSignal.timeout(ON_COMMAND.tryMs);
  return reach(url.href, { method: 'POST', headers: signed.headers, body, signal });
}

/**
 * Sends one request to an AWS service that answers in XML.
 * @param refused makes the error from the service's message and error code
 */
export async function askInXml(
  service: string,
  input: Readonly<Record<string, string>>,
  refused: (why: string, name: string | undefined) => Error,
): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const response = await askAws({ service, headers, body: new URLSearchParams(input).toString() });
  const answer = await response.text();
  if (response.ok) return answer;
  const [message = `it answered ${response.status}`] = textsOf('Message', answer);
  throw refused(message, textsOf('Code', answer)[0]);
}

export const textsOf = (element: string, xml: string): string[] =>
  [...xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text = '']) => text);

function endpointOf(service: string, region: string): string {
  const { [`AWS_ENDPOINT_URL_${service.toUpperCase()}`]: own, AWS_ENDPOINT_URL: all } = process.env;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return own || all || `https://${service}.${region}.${domain}`;
}
