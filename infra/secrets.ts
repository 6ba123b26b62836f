import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';

/** A secret; `partner` is those of all connections. */
export type SecretName = 'github-webhook' | 'github' | 'slack' | 'grants' | 'partner';

export interface SecretsProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
}

/**
 * A random key, made when the secret is: no one issues it, and no one needs to see it. Leave this as it is: a change has
 * CloudFormation make another key, and every link that is not used within a day is lost.
 */
const GRANTS_KEY = {
  secretStringTemplate: '{}',
  generateStringKey: 'key',
  passwordLength: 64,
  excludePunctuation: true,
};

/**
 * One secret for each credential holder. They are created empty, and nothing of the stack ever writes one: values are entered with
 * `relay secrets set`, and a deployment leaves them alone. The key of the grants is the exception: it is generated once.
 */
export class Secrets extends Construct {
  /** The prefix of all secret names. */
  readonly prefix: string;
  readonly names: readonly string[];
  readonly #secrets = new Map<string, ISecret>();

  constructor(scope: Construct, id: string, { stage, config, key }: SecretsProps) {
    super(scope, id);
    this.prefix = `partner-relay/${stage.name}/`;
    const descriptions = new Map([
      ['github-webhook', 'Webhook secret, which github-webhook checks signatures with'],
      ['github', 'The App or the token that comments'],
      ...(config.slack ? [['slack', 'Signing secret, and the token of the app that answers'] as const] : []),
      ['grants', 'Key that seals the grants of people in the table'] as const,
      ...Object.keys(config.connections).map(
        (name) => [`partner/${name}`, 'Base URL, API key and secret key of the service'] as const,
      ),
    ]);
    for (const [name, description] of descriptions) {
      // The L2 construct would generate a value for each.
      const secret = new CfnSecret(this, name, {
        name: this.prefix + name,
        description,
        ...(key && { kmsKeyId: key.keyArn }),
        ...(name === 'grants' && { generateSecretString: GRANTS_KEY }),
      });
      secret.applyRemovalPolicy(stage.removalPolicy);
      acknowledge(
        secret,
        'AwsSolutions-SMG4',
        name === 'grants'
          ? 'A rotation ends every link that is not used within a day, so a person decides about it.'
          : 'The keys are issued by the service, GitHub and Slack, and rotated there by a person.',
      );
      this.#secrets.set(name, Secret.fromSecretCompleteArn(this, `${name}-ref`, secret.attrId));
    }
    this.names = [...descriptions.keys()].map((name) => this.prefix + name);
  }

  /** Lets a function read these secrets, if the configuration has them. */
  grantRead(grantee: IGrantable, names: readonly SecretName[]): void {
    for (const [name, secret] of this.#secrets) {
      if (names.some((granted) => granted === name || name.startsWith(`${granted}/`))) secret.grantRead(grantee);
    }
  }
}
