import { ArnFormat, Stack } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { stageSecrets } from '../lib/config/stage-secrets.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import { type Stage, StageError } from './stage.ts';
import type { StateTable } from './state-table.ts';

/** The kinds of secrets. `partner` and `instance` are the secrets of all connections, `calendar` of all teams. */
export type SecretName =
  | 'github-webhook'
  | 'github'
  | 'slack'
  | 'hooks'
  | 'grants'
  | 'markers'
  | 'intake'
  | 'instance'
  | 'calendar'
  | 'partner';

export interface SecretsProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
  custom: CustomAutomations;
  /** Created before the secrets: if the table is newer than a key, an earlier table was lost. */
  table: StateTable;
}

/**
 * A random key, generated with its secret, because nobody issues it or needs to see it. Do not change this:
 * CloudFormation would generate other keys.
 */
const RANDOM_KEY = {
  secretStringTemplate: '{}',
  generateStringKey: 'key',
  passwordLength: 64,
  excludePunctuation: true,
};

/** The secrets with such a key, and why nothing rotates it. */
const GENERATED = new Map([
  ['grants', 'A rotation ends every link that is not used within a day, so a person decides about it.'],
  ['markers', 'After a rotation, the relay does not recognize what it created before.'],
  ['intake', 'After a rotation, jobs that have waited for more than a day do not act through linked accounts.'],
]);

/**
 * One secret for each holder of credentials. The stack creates them empty; people enter the values with `partner-relay
 * secrets set`, and deployments leave them alone. Only random keys are generated, once.
 */
export class Secrets extends Construct {
  /** The prefix of all names of secrets. */
  readonly prefix: string;
  readonly #arns = new Map<string, string>();

  constructor(scope: Construct, id: string, { stage, config, custom, table, key }: SecretsProps) {
    super(scope, id);
    this.prefix = `partner-relay/${stage.name}/`;
    const descriptions = new Map(Object.entries(stageSecrets(config, custom)));
    const { existingSecrets, replicaRegion } = stage.settings;
    const unknown = existingSecrets.filter((name) => !descriptions.has(name));
    if (unknown.length > 0) {
      throw new StageError(
        `deployment.stages.${stage.name}.existingSecrets names ${unknown.join(', ')}; the secrets of the stage are ${[...descriptions.keys()].join(', ')}`,
      );
    }
    for (const [name, description] of descriptions) {
      if (existingSecrets.includes(name)) {
        // Secrets Manager adds a hyphen and six characters to the name.
        this.#arns.set(name, this.#arnOf(`${name}-??????`));
        continue;
      }
      // The L2 construct would generate a value for each secret.
      const secret = new CfnSecret(this, name, {
        name: this.prefix + name,
        description,
        ...(key && { kmsKeyId: key.keyArn }),
        ...(GENERATED.has(name) && { generateSecretString: RANDOM_KEY }),
        ...(name === 'markers' && replicaRegion !== undefined && { replicaRegions: [{ region: replicaRegion }] }),
      });
      secret.node.addDependency(table);
      secret.applyRemovalPolicy(stage.removalPolicy);
      acknowledge(
        secret,
        'AwsSolutions-SMG4',
        GENERATED.get(name) ?? 'The keys are issued by the service, GitHub and Slack, and rotated there by a person.',
      );
      this.#arns.set(name, secret.attrId);
    }
  }

  /** Lets a function read these secrets, if the configuration has them. */
  grantRead(grantee: IGrantable, names: readonly SecretName[]): void {
    this.#grant(grantee, ['GetSecretValue'], names);
  }

  /** Lets a person enter the secrets that are not generated, but not read them. */
  grantEnter(grantee: IGrantable): void {
    const names = [...this.#arns.keys()].filter((name) => !GENERATED.has(name)).map(kindOf);
    this.#grant(grantee, ['PutSecretValue'], [...new Set(names)]);
  }

  /**
   * Grants actions. The secrets of all connections are one resource with a wildcard, because a policy has at most 6,144
   * characters.
   * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
   */
  #grant(grantee: IGrantable, actions: readonly string[], kinds: readonly SecretName[]): void {
    const names = [...this.#arns.keys()];
    const resources = kinds.flatMap((kind) => {
      if (names.includes(kind)) return [this.#arns.get(kind) ?? ''];
      return names.some((name) => kindOf(name) === kind) ? [this.#arnOfAll(kind)] : [];
    });
    if (resources.length === 0) return;
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: actions.map((action) => `secretsmanager:${action}`), resources }),
    );
  }

  #arnOf(name: string): string {
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    const resourceName = this.prefix + name;
    return Stack.of(this).formatArn({ service: 'secretsmanager', resource: 'secret', resourceName, arnFormat });
  }

  #arnOfAll(kind: SecretName): string {
    const reason = 'The secrets of this kind of this stage, and of no other.';
    acknowledgeWildcard(Stack.of(this), 'secretsmanager', `secret:${this.prefix}${kind}/*`, reason);
    return this.#arnOf(`${kind}/*`);
  }
}

/** The kind of a secret: its name without the connection. */
const kindOf = (name: string) => name.replace(/\/.*/, '') as SecretName;
