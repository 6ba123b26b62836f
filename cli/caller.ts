import { askAws } from './ask-aws.ts';

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
  const response = await askAws({
    service: 'sts',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams({ Action: 'GetCallerIdentity', Version: VERSION }).toString(),
  });
  const answer = await response.text();
  const [, arn] = /<Arn>([^<]+)<\/Arn>/.exec(answer) ?? [];
  if (response.ok && arn !== undefined) return arn;
  const [, message = `it answered ${response.status}`] = /<Message>([^<]+)<\/Message>/.exec(answer) ?? [];
  const [, name = 'Error'] = /<Code>([^<]+)<\/Code>/.exec(answer) ?? [];
  // By its name, cli/aws-errors.ts knows what to do about it.
  throw Object.assign(new Error(`AWS does not say who you are: ${message}`), { name });
}
