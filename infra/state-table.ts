import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { jobsByStatus, waitingLine } from '../lib/table/keys.ts';
import { acknowledge } from './acknowledge.ts';
import type { Stage } from './stage.ts';

/** What a function does with the table. */
export interface TableAccess {
  items: readonly ('GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query')[];
  /** Whether it reads lists of jobs. */
  index?: boolean;
}

/** The one table: jobs, their journals, links and budgets. */
export class StateTable extends Construct {
  readonly table: TableV2;

  constructor(scope: Construct, id: string, { stage }: { stage: Stage }) {
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
      encryption: TableEncryptionV2.dynamoOwnedKey(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isProduction },
      deletionProtection: stage.isProduction,
      removalPolicy: stage.removalPolicy,
    });
    if (!stage.isProduction) {
      acknowledge(table, 'AwsSolutions-DDB3', 'Only production keeps data that is worth restoring.');
    }
    this.table = table;
  }

  /** Single items and queries, as the function needs; nobody scans. */
  grant(grantee: IGrantable, { items, index = false }: TableAccess): void {
    const { tableArn } = this.table;
    const allow = (actions: readonly string[], resource: string) =>
      grantee.grantPrincipal.addToPrincipalPolicy(
        new PolicyStatement({ actions: actions.map((action) => `dynamodb:${action}`), resources: [resource] }),
      );
    allow(items, tableArn);
    if (index) for (const { name } of [jobsByStatus, waitingLine]) allow(['Query'], `${tableArn}/index/${name}`);
  }
}
