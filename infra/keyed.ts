import type { IKey } from 'aws-cdk-lib/aws-kms';

/** Resources that use the customer's key for encryption, if the stage has one. */
export interface Keyed {
  key: IKey | undefined;
}
