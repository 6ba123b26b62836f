import type { Command } from 'commander';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { OpenTarget } from './target.ts';

/** What a command adds itself to, and what it works with. */
export interface Cli {
  program: Command;
  open: OpenTarget;
  /** The name of `--stage`. */
  stage: () => string | undefined;
  /** relay.config.ts */
  readConfig: () => Promise<RelayConfig>;
  /** Where the automations of the team are. */
  ownFolder: string;
}
