import { Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import type { JobQueue } from './job-queue.ts';
import type { Keyed } from './keyed.ts';
import type { Secrets } from './secrets.ts';
import { ENCRYPT_AND_DECRYPT } from './stage-key.ts';
import type { StateTable } from './state-table.ts';

export interface ConsolePoliciesProps extends Keyed {
  table: StateTable;
  queues: readonly JobQueue[];
  secrets: Secrets;
  /** The functions that schedules fire. */
  scheduled: readonly LambdaFunction[];
  /** The IAM path of the policies. */
  path: string | undefined;
}

/**
 * The policies for people who use `partner-relay console --stage`; attach one to the people or the role that operate
 * the stage:
 *
 * - to read
 * - to read and to make changes. It can call the service with the relay's key
 * - to enter the secrets. A person with it can forge everything that Slack and GitHub send, so it is for the stage's
 * owners
 */
export class ConsolePolicies extends Construct {
  readonly read: ManagedPolicy;
  readonly operate: ManagedPolicy;
  readonly enterSecrets: ManagedPolicy;

  constructor(scope: Construct, id: string, { table, queues, secrets, scheduled, path, key }: ConsolePoliciesProps) {
    super(scope, id);
    const { stackName } = Stack.of(this);
    // AWS checks a request that names the stack against stack/<name>/*, not against the stack's id.
    const named = Stack.of(this).formatArn({
      service: 'cloudformation',
      resource: 'stack',
      resourceName: `${stackName}/*`,
    });
    const findsStack = () => new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [named] });
    const policy = (name: string, description: string, statements: PolicyStatement[] = []) =>
      new ManagedPolicy(this, name, { ...(path !== undefined && { path }), description, statements });
    this.read = policy('Read', `Read the console of ${stackName}`, [findsStack()]);
    this.operate = policy('Operate', `Read the console of ${stackName}, and change what it shows`, [findsStack()]);
    this.enterSecrets = policy('Secrets', `Enter the secrets of ${stackName}`);
    const reason = 'The rest of the name is the id of this stack.';
    acknowledgeWildcard(this, 'cloudformation', `stack/${stackName}/*`, reason);
    table.grant(this.read, 'console-read');
    table.grant(this.operate, 'console-operate');
    key?.grant(this.read, 'kms:Decrypt');
    key?.grant(this.operate, ...ENCRYPT_AND_DECRYPT);
    for (const queue of queues) queue.grantSend(this.operate);
    // The relay checks a created object with the service, and a defect's marker with the key of markers. A backfill
    // reads issues on GitHub.
    secrets.grantRead(this.operate, ['partner', 'markers', 'github']);
    secrets.grantEnter(this.enterSecrets);
    // All webhooks share one secret, so a person who enters one value must read the others to keep them.
    secrets.grantRead(this.enterSecrets, ['hooks']);
    key?.grant(this.enterSecrets, ...ENCRYPT_AND_DECRYPT);
    this.operate.addStatements(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: scheduled.map(({ functionArn }) => functionArn),
      }),
    );
  }
}
