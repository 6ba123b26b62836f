import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { CfnSecret, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { RelayConfig } from '../lib/config/schema.ts';
import { acknowledge } from './acknowledge.ts';
import type { Stage } from './stage.ts';

/**
 * One secret for each party. They are created empty, and nothing of the stack ever writes one: values are entered with
 * `relay secrets set`, and a deployment leaves them alone.
 */
export class Secrets extends Construct {
  /** What the names of all of them begin with. */
  readonly prefix: string;
  readonly names: readonly string[];
  readonly #secrets = new Map<string, ISecret>();

  constructor(scope: Construct, id: string, { stage, config }: { stage: Stage; config: RelayConfig }) {
    super(scope, id);
    this.prefix = `partner-relay/${stage.name}/`;
    const descriptions = new Map([
      ['github', 'Webhook secret, and the App or the token that comments'],
      ...(config.slack ? [['slack', 'Signing secret, and the token of the app that answers'] as const] : []),
      ...Object.keys(config.connections).map(
        (name) => [`partner/${name}`, 'Base URL, API key and secret key of the service'] as const,
      ),
    ]);
    for (const [name, description] of descriptions) {
      // The L2 construct would generate a value.
      const secret = new CfnSecret(this, name, { name: this.prefix + name, description });
      secret.applyRemovalPolicy(stage.removalPolicy);
      acknowledge(
        secret,
        'AwsSolutions-SMG4',
        'The keys are issued by the service, GitHub and Slack, and rotated there by a person.',
      );
      this.#secrets.set(name, Secret.fromSecretCompleteArn(this, `${name}-ref`, secret.attrId));
    }
    this.names = [...descriptions.keys()].map((name) => this.prefix + name);
  }

  grantRead(grantee: IGrantable, name: string): void {
    const secret = this.#secrets.get(name);
    if (!secret) throw new Error(`there is no secret '${name}'`);
    secret.grantRead(grantee);
  }
}
