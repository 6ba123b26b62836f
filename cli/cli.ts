import type { Command } from 'commander';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { OpenTarget } from './target.ts';

/** What a command works with. */
export interface Cli {
  open: OpenTarget;
  /** The value of `--stage`. */
  stage: () => string | undefined;
  /** Reads relay.config.ts. */
  readConfig: () => Promise<RelayConfig>;
  /** The folder of the team's automations, if it is not automations/. */
  customFolder?: string;
}

/** Gives a command its arguments, its options and its action. */
export type Define = (command: Command, cli: Cli) => unknown;
