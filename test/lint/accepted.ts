import type { StageSettings } from '../../lib/config/deployment.ts';

/** A finding that is accepted. */
interface Accepted {
  id: string;
  why: string;
  /** The stages in which it may occur; by default, all. */
  where?: (stage: StageSettings) => boolean;
}

const hasNoKey = ({ kmsKeyArn }: StageSettings) => kmsKeyArn === undefined;

/** https://github.com/aws-cloudformation/cfn-lint/blob/main/docs/rules.md */
export const acceptedByCfnLint: readonly Accepted[] = [
  {
    id: 'W3005',
    why: 'The CDK writes DependsOn for a role and its policy, also where the role is referred to anyway.',
  },
];

/** https://www.checkov.io/5.Policy%20Index/cloudformation.html */
export const acceptedByCheckov: readonly Accepted[] = [
  {
    id: 'CKV_AWS_115',
    why: 'Concurrency is reserved where the configuration says so: a new account has none to reserve.',
  },
  {
    id: 'CKV_AWS_116',
    why: 'Webhooks and the worker are not invoked asynchronously; scheduled functions have a failure destination.',
  },
  { id: 'CKV_AWS_117', why: 'Only what calls the service belongs into a network, and only where the stage has one.' },
  {
    id: 'CKV_AWS_258',
    why: 'Who calls a webhook proves who they are by the signature on the body.',
    where: ({ httpApi }) => httpApi === undefined,
  },
  {
    id: 'CKV_AWS_111',
    why: 'Lambda needs the actions on network interfaces for every resource, and the function itself is denied them.',
  },
  {
    id: 'CKV_AWS_165',
    why: 'Only a protected stage keeps data that is worth restoring.',
    where: (stage) => !stage.protected,
  },
  { id: 'CKV_AWS_26', why: 'CloudWatch cannot publish to a topic under the AWS managed key.', where: hasNoKey },
  { id: 'CKV_AWS_27', why: 'SQS encrypts with a key that it keeps (SSE-SQS).', where: hasNoKey },
  { id: 'CKV_AWS_149', why: 'Secrets Manager encrypts with the AWS managed key.', where: hasNoKey },
  { id: 'CKV_AWS_158', why: 'CloudWatch Logs encrypts with a key that it keeps.', where: hasNoKey },
  { id: 'CKV_AWS_173', why: 'The environment holds names, no secrets, and Lambda encrypts it.', where: hasNoKey },
];

/** The ids of the findings that a stage may have. */
export function idsFor(accepted: readonly Accepted[], stage: StageSettings): string {
  return accepted
    .filter(({ where }) => where?.(stage) ?? true)
    .map(({ id }) => id)
    .join();
}
