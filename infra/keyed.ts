import type { IKey } from 'aws-cdk-lib/aws-kms';

/** What is encrypted with the customer's key, where the stage has one. */
export interface Keyed {
  key: IKey | undefined;
}
