import { HttpError } from '../lib/state/http/function-url.ts';

/** The errors by which AWS's services and SDK say that the credentials cannot be used. */
const CREDENTIALS = new Set([
  'CredentialsProviderError',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'TokenProviderError',
  'UnrecognizedClientException',
]);

/** What an operator can do about an error of AWS; undefined for other errors. */
export function awsFault(error: unknown): HttpError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  if (CREDENTIALS.has(name)) {
    return new HttpError(502, `AWS does not accept the credentials of this console: ${message}. Sign in to AWS again`, {
      cause: error,
    });
  }
  if (name === 'AccessDeniedException' || name === 'AccessDenied') {
    const todo = "attach the stack's policy ConsoleReadPolicyArn or ConsoleOperatePolicyArn to who you are";
    return new HttpError(502, `AWS does not allow it: ${message}. To use the console, ${todo}`, { cause: error });
  }
  return undefined;
}
