import { Stack, Token, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Accepts a finding of cdk-nag or a warning of the CDK, and records the reason. */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({ id, reason });
}

/** Accepts a wildcard in a resource of the stage's account and region. @param resource `stack/partner-relay-prod/*` */
export function acknowledgeWildcard(construct: IConstruct, service: string, resource: string, reason: string): void {
  const { partition, region } = Stack.of(construct);
  const shown = (value: string, name: string) => (Token.isUnresolved(value) ? `<AWS::${name}>` : value);
  const place = `${shown(partition, 'Partition')}:${service}:${shown(region, 'Region')}:<AWS::AccountId>`;
  acknowledge(construct, `AwsSolutions-IAM5[Resource::arn:${place}:${resource}]`, reason);
}
