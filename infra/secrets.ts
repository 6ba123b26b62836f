import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Keyed } from './keyed.ts';
import type { Stage } from './stage.ts';

/** A kind of secret; `partner` means the secrets of all connections. */
export type SecretName = 'github-webhook' | 'github' | 'slack' | 'partner';

export interface SecretsProps extends Keyed {
  stage: Stage;
  config: RelayConfig;
}

/**
 * One secret for each party. They are created empty, and the stack never writes a value. You enter values with
 * `relay secrets set`, and deployments do not change them.
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
      ['github-webhook', 'Webhook secret, with which github-webhook checks signatures'],
      ['github', 'Credentials of the App, or the token, for comments and redelivery'],
      ...(config.slack ? [['slack', 'Signing secret and bot token of the Slack app'] as const] : []),
      ...Object.keys(config.connections).map(
        (name) => [`partner/${name}`, 'Base URL, API key and secret key of the service'] as const,
      ),
    ]);
    for (const [name, description] of descriptions) {
      // The L2 construct would generate a secret value.
      const secret = new CfnSecret(this, name, {
        name: this.prefix + name,
        description,
        ...(key && { kmsKeyId: key.keyArn }),
      });
      secret.applyRemovalPolicy(stage.removalPolicy);
      acknowledge(
        secret,
        'AwsSolutions-SMG4',
        'The service, GitHub and Slack issue the keys, and a person rotates them there.',
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
