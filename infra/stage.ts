import { RemovalPolicy } from 'aws-cdk-lib';
import type { StageSettings } from '../lib/config/deployment.ts';
import type { RelayConfig } from '../lib/config/schema.ts';

/** One deployment of the relay in an account and a region. */
export interface Stage {
  name: string;
  isProtected: boolean;
  /** What becomes of data when the stack is removed. */
  removalPolicy: RemovalPolicy;
  settings: StageSettings;
}

/**
 * The stage of `-c stage=…`, `dev` by default, as `deployment.stages` declares it.
 *
 * @throws {Error} for a stage that is not declared, or is protected and has no one to alarm
 */
export function readStage(name: unknown, { deployment }: RelayConfig): Stage {
  const text = String(name ?? 'dev');
  const settings = Object.hasOwn(deployment.stages, text) ? deployment.stages[text] : undefined;
  if (!settings) {
    const known = Object.keys(deployment.stages).join(', ');
    throw new Error(`relay.config.ts has no stage '${text}' under deployment.stages; there are ${known}`);
  }
  const { emails, slack } = deployment.alarms;
  if (settings.protected && emails.length === 0 && !slack) {
    throw new Error(
      `the stage '${text}' is protected, and nobody would hear its alarms: set deployment.alarms.emails or deployment.alarms.slack in relay.config.ts`,
    );
  }
  return {
    name: text,
    isProtected: settings.protected,
    // A resource whose first creation fails is not kept: it would block the next attempt by its name.
    removalPolicy: settings.protected ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    settings,
  };
}
