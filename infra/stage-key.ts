import { Stack } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** The services that use the key for a function or a person. */
const SERVICES = ['dynamodb', 'lambda', 'scheduler', 'secretsmanager', 'sqs'];

/** The actions with the key that the table, the queues and the secrets need. */
export const ENCRYPT_AND_DECRYPT = ['kms:Decrypt', 'kms:Encrypt', 'kms:ReEncrypt*', 'kms:GenerateDataKey*'];

/**
 * The customer's key of a stage. Its grants apply only to calls through these services, so nobody can decrypt with it
 * directly.
 * https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export function stageKey(scope: Construct, id: string, keyArn: string): IKey {
  const key = Key.fromKeyArn(scope, id, keyArn);
  const { region, urlSuffix } = Stack.of(key);
  key.grant = (grantee, ...actions) =>
    Grant.addToPrincipal({
      grantee,
      actions,
      resourceArns: [keyArn],
      conditions: { StringEquals: { 'kms:ViaService': SERVICES.map((name) => `${name}.${region}.${urlSuffix}`) } },
    });
  return key;
}
