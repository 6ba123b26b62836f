import { HttpError } from '../lib/state/http/function-url.ts';

/**
 * Names of errors of the SDK and of AWS about missing or refused credentials.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
 */
const CREDENTIALS: ReadonlyMap<string, 'missing' | 'refused'> = new Map([
  ['CredentialsProviderError', 'missing'],
  ['TokenProviderError', 'missing'],
  ['ExpiredToken', 'refused'],
  ['ExpiredTokenException', 'refused'],
  ['InvalidClientTokenId', 'refused'],
  ['InvalidSignatureException', 'refused'],
  ['SignatureDoesNotMatch', 'refused'],
  ['UnrecognizedClientException', 'refused'],
]);

/** Whether an error means that credentials for AWS are missing or refused; undefined for other errors. */
export const credentialsFault = ({ name }: Error) => CREDENTIALS.get(name);

/** An error with what the operator can do about an error of AWS; undefined for other errors. */
export function awsFault(error: unknown): HttpError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  if (credentialsFault(error)) {
    return new HttpError(502, `AWS does not accept the credentials of this console: ${message}. Sign in to AWS again`, {
      cause: error,
    });
  }
  if (name === 'AccessDeniedException' || name === 'AccessDenied') {
    const todo = "attach the stack's policy ConsoleReadPolicyArn or ConsoleOperatePolicyArn to your role or user";
    return new HttpError(502, `AWS does not allow it: ${message}. To use the console, ${todo}`, { cause: error });
  }
  return undefined;
}
