import type { Command } from 'commander';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { OpenTarget } from './target.ts';

/** What commands work with. */
export interface Cli {
  open: OpenTarget;
  /** The name of `--stage`. */
  stage: () => string | undefined;
  /** relay.config.ts */
  readConfig: () => Promise<RelayConfig>;
  /** Where the automations of the team are, if it is not automations/. */
  customFolder?: string;
}

/** Gives a command its arguments, its options and its action. */
export type Define = (command: Command, cli: Cli) => unknown;
