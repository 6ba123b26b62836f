import { QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import type { Keyed } from './keyed.ts';

/** The encryption of every queue: with the stage's key if it has one, otherwise with a key that SQS manages. */
export function queueEncryption(key: Keyed['key']): Pick<QueueProps, 'encryption' | 'encryptionMasterKey'> {
  return key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED };
}
