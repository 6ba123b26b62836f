import { DefaultStackSynthesizer, type IStackSynthesizer, RemovalPolicy } from 'aws-cdk-lib';
import type { StageSettings } from '../lib/config/deployment.ts';
import type { RelayConfig } from '../lib/config/schema.ts';

/** A stage that cannot be deployed, because of its name or its declaration. The message says what to write. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

const RECIPIENT = `  deployment: {
    alarms: { emails: ['operations@example.com'] },
  },`;

/** One deployment of the relay in an account and a region. */
export interface Stage {
  name: string;
  isProtected: boolean;
  /** What happens to the data when the stack is removed. */
  removalPolicy: RemovalPolicy;
  settings: StageSettings;
}

/**
 * Returns the stage of `-c stage=…`, by default `dev`, as `deployment.stages` declares it.
 *
 * @throws {StageError} if the stage is not declared, or is protected and has no recipient for alarms
 */
export function readStage(name: unknown, { deployment }: RelayConfig): Stage {
  const text = String(name ?? 'dev');
  const settings = Object.hasOwn(deployment.stages, text) ? deployment.stages[text] : undefined;
  if (!settings) {
    const known = Object.keys(deployment.stages).join(', ');
    throw new StageError(`relay.config.ts has no stage '${text}' under deployment.stages; it has ${known}`);
  }
  if (settings.protected && deployment.alarms.emails.length === 0 && !settings.slackAlarms) {
    throw new StageError(
      `The stage '${text}' is protected, so its alarms need a recipient. Add this to relay.config.ts, with your address:\n\n${RECIPIENT}\n`,
    );
  }
  return {
    name: text,
    isProtected: settings.protected,
    // A resource whose creation fails is deleted nevertheless, because its name would block the next attempt.
    removalPolicy: settings.protected ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    settings,
  };
}

/** Deploys a stack with the roles of the bootstrap with this qualifier. */
export function deployedBy(bootstrapQualifier: string): IStackSynthesizer {
  // The class declares a property that may be undefined, which its interface does not allow.
  return new DefaultStackSynthesizer({ qualifier: bootstrapQualifier }) as IStackSynthesizer;
}
