import type { IKey } from 'aws-cdk-lib/aws-kms';

/** Resources that are encrypted with the customer's key if the stage has one. */
export interface Keyed {
  key: IKey | undefined;
}
