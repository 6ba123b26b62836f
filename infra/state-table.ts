import { Duration } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  type ITableV2,
  ProjectionType,
  TableEncryptionV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { type IGrantable, PolicyStatement, type PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { tableLimits } from '../lib/config/capacity.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { takesLinkedAccounts } from '../lib/config/settings.ts';
import { jobsByStatus, waitingLine } from '../lib/state/table/keys.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import { acknowledge } from './acknowledge.ts';
import type { Alarms } from './alarms.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';
import { itemGrants, tableAccessOf } from './table-access.ts';

/** The operations of the functions on the table. */
const OPERATIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'];

export interface StateTableProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
  custom: CustomAutomations;
  alarms: Alarms;
}

/** The only table: jobs, their journals, links and budgets. */
export class StateTable extends Construct {
  readonly table: Pick<ITableV2, 'tableName' | 'tableArn' | 'metric'>;
  readonly #takesLinkedAccounts: boolean;

  constructor(scope: Construct, id: string, props: StateTableProps) {
    super(scope, id);
    const { stage, config, alarms } = props;
    this.#takesLinkedAccounts = takesLinkedAccounts(config);
    const { existing } = stage.settings.table ?? {};
    this.table = existing === undefined ? this.#make(props) : TableV2.fromTableName(this, 'Existing', existing);
    // The SDK repeats throttled requests to the table or an index, so one minute of them is harmless. MiniStack accepts
    // no alarm on a sum.
    const { tableName: TableName } = this.table;
    for (const Operation of OPERATIONS) {
      const metric = this.table.metric('ThrottledRequests', {
        dimensionsMap: { TableName, Operation },
        statistic: 'Sum',
        period: Duration.minutes(1),
      });
      alarms.add(metric, `table-throttles-${Operation}`, {
        periods: 3,
        broken: `DynamoDB has throttled requests of ${Operation} to the table for three minutes: webhooks may answer 5xx, and jobs are carried out late.`,
        todo: 'docs/stuck.md#the-table-is-throttled says how to find out what uses the table, and what to do.',
      });
    }
  }

  #make({ stage, config, custom, key }: StateTableProps): TableV2 {
    const { read, write } = tableLimits(config, stage.settings, custom);
    const limits = { maxReadRequestUnits: read, maxWriteRequestUnits: write };
    const table = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      // Indexes of job lists, due jobs and waiting lines. Only job records have the keys of these indexes.
      globalSecondaryIndexes: [
        {
          indexName: jobsByStatus.name,
          partitionKey: { name: jobsByStatus.partition, type: AttributeType.STRING },
          sortKey: { name: jobsByStatus.sort, type: AttributeType.NUMBER },
          ...limits,
        },
        {
          indexName: waitingLine.name,
          partitionKey: { name: waitingLine.partition, type: AttributeType.STRING },
          sortKey: { name: waitingLine.sort, type: AttributeType.NUMBER },
          projectionType: ProjectionType.INCLUDE,
          nonKeyAttributes: [...waitingLine.attributes],
          ...limits,
        },
      ],
      billing: Billing.onDemand(limits),
      encryption: key ? TableEncryptionV2.customerManagedKey(key) : TableEncryptionV2.dynamoOwnedKey(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isProtected },
      deletionProtection: stage.isProtected,
      removalPolicy: stage.removalPolicy,
    });
    if (!stage.isProtected) {
      acknowledge(table, 'AwsSolutions-DDB3', 'Only a protected stage has data that is worth restoring.');
    }
    return table;
  }

  /**
   * Grants a function the rights in infra/table-access.ts. `dynamodb:LeadingKeys` contains the partition keys of a
   * request.
   * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
   */
  grant(grantee: IGrantable, slug: string): void {
    const { tableArn } = this.table;
    const access = tableAccessOf(slug, this.#takesLinkedAccounts);
    const allow = (statement: PolicyStatementProps) =>
      grantee.grantPrincipal.addToPrincipalPolicy(new PolicyStatement(statement));
    for (const { actions, partitionKeys } of itemGrants(access)) {
      allow({
        actions: [...actions],
        resources: [tableArn],
        conditions: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitionKeys },
          // ForAllValues alone would also allow requests without the key, such as a PartiQL statement.
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      });
    }
    // Whole indexes, because the documentation does not say which leading keys an index query has, if any.
    const indexes = access.indexes?.map((index) => `${tableArn}/index/${index}`) ?? [];
    if (indexes.length > 0) allow({ actions: ['dynamodb:Query'], resources: indexes });
    if (access.describes) allow({ actions: ['dynamodb:DescribeTable'], resources: [tableArn] });
  }
}
