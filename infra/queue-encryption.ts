import { QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Keyed } from './keyed.ts';

/** How every queue is encrypted: with the stage's key if it has one, otherwise with a key managed by SQS. */
export function queueEncryption(key: Keyed['key']): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> {
  return key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED };
}
