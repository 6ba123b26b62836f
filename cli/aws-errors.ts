import { CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import { ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import { credentialsFault } from '../console/aws-faults.ts';
import { isSilence } from '../lib/aws-limits.ts';

/**
 * Explains an error of the AWS SDK to the person at the command line, and says what to do. Other errors explain
 * themselves.
 */
export function awsErrorInWords(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (isSilence(error)) {
    return `AWS does not answer (${message}): check the network, AWS_REGION, and HTTPS_PROXY and NO_PROXY if you use a proxy`;
  }
  const credentials = credentialsFault(error);
  // The SDK has no class for this error.
  if (message === 'Region is missing') {
    return 'no AWS region is set: set AWS_REGION to that of the stage, such as AWS_REGION=eu-central-1, or AWS_PROFILE to a profile that has one';
  }
  if (credentials === 'missing') {
    return `there are no AWS credentials (${message}): sign in, for example with aws sso login, or set AWS_PROFILE`;
  }
  if (credentials === 'refused') return `AWS refuses your credentials (${message}): sign in again`;
  if (error instanceof CloudFormationServiceException && /does not exist/.test(message)) {
    return `${message}: deploy it with npx partner-relay deploy --stage <stage>, or check --stage and AWS_REGION`;
  }
  if (error instanceof ResourceNotFoundException) {
    return `${message} The stack of the stage creates its secrets: deploy it first, and check --stage, AWS_REGION and the connections of relay.config.ts`;
  }
  return undefined;
}
