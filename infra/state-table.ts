import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { jobsByStatus, waitingLine } from '../lib/table/keys.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';
import { itemGrants, tableAccessOf } from './table-access.ts';

/** The one table: jobs, their journals, links and budgets. */
export class StateTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, { stage, key }: { stage: Stage } & Keyed) {
    super(scope, id);
    const table = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      // What people look at and what the sweep takes up, and who waits for the budget. Only job records have their keys.
      globalSecondaryIndexes: [
        {
          indexName: jobsByStatus.name,
          partitionKey: { name: jobsByStatus.partition, type: AttributeType.STRING },
          sortKey: { name: jobsByStatus.sort, type: AttributeType.NUMBER },
        },
        {
          indexName: waitingLine.name,
          partitionKey: { name: waitingLine.partition, type: AttributeType.STRING },
          sortKey: { name: waitingLine.sort, type: AttributeType.NUMBER },
          projectionType: ProjectionType.INCLUDE,
          nonKeyAttributes: [...waitingLine.attributes],
        },
      ],
      billing: Billing.onDemand(),
      encryption: key ? TableEncryptionV2.customerManagedKey(key) : TableEncryptionV2.dynamoOwnedKey(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isProtected },
      deletionProtection: stage.isProtected,
      removalPolicy: stage.removalPolicy,
    });
    if (!stage.isProtected) {
      acknowledge(table, 'AwsSolutions-DDB3', 'Only a protected stage keeps data that is worth restoring.');
    }
    this.table = table;
  }

  /**
   * Lets a function do what infra/table-access.ts lists. `dynamodb:LeadingKeys` has the partition keys of a request.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
   */
  grant(grantee: IGrantable, slug: string): void {
    const { tableArn } = this.table;
    const access = tableAccessOf(slug);
    const allow = (statement: PolicyStatementProps) =>
      grantee.grantPrincipal.addToPrincipalPolicy(new PolicyStatement(statement));
    for (const { actions, partitionKeys } of itemGrants(access)) {
      allow({
        actions: [...actions],
        resources: [tableArn],
        conditions: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitionKeys },
          // ForAllValues alone also holds for a request without the key, such as a PartiQL statement.
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      });
    }
    // Whole indexes: the documentation does not say whether an index query has leading keys, and which.
    const indexes = access.indexes?.map((index) => `${tableArn}/index/${index}`) ?? [];
    if (indexes.length > 0) allow({ actions: ['dynamodb:Query'], resources: indexes });
  }
}
