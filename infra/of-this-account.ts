import { Aws } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';

/** A service that may take a role only for something in the account of the stage. */
export function ofThisAccount(service: string): ServicePrincipal {
  return new ServicePrincipal(service, { conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } } });
}
