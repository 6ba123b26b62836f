import { Aws } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';

/** A service that may assume a role only for resources in the stage's account. */
export function ofThisAccount(service: string): ServicePrincipal {
  return new ServicePrincipal(service, { conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } } });
}
