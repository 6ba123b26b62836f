import { askInXml, textsOf } from './ask-aws.ts';

/** The API version of the AWS Security Token Service. */
const VERSION = '2011-06-15';

/**
 * Returns who the AWS credentials of this process belong to: `arn:aws:sts::111122223333:assumed-role/Operators/mira`.
 * AWS answers everyone, even without any other permission.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 *
 * @throws {Error} without credentials, or if AWS refuses them
 */
export async function callerArn(): Promise<string> {
  // cli/aws-errors.ts recognizes the error by its name, and says what to do.
  const refused = (why: string, name = 'Error') =>
    Object.assign(new Error(`AWS does not say who you are: ${why}`), { name });
  const [arn] = textsOf('Arn', await askInXml('sts', { Action: 'GetCallerIdentity', Version: VERSION }, refused));
  if (arn !== undefined) return arn;
  throw refused('its answer has no ARN');
}
