import { QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Keyed } from './keyed.ts';

/** How every queue is encrypted: with the stage's key, or else with one that SQS keeps. */
export function queueEncryption(key: Keyed['key']): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> {
  return key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED };
}
