import type { CommandTools, FindTool, MappedCommand } from '../config/mcp.ts';
import type { RelayConfig } from '../config/schema.ts';
import type { Holder } from '../grants/grant.ts';
import { NeedsOperator } from '../jobs/interruption.ts';
import type { Job } from '../jobs/job.ts';
import type { Journal } from '../jobs/journal.ts';
import type { Steps } from '../jobs/steps.ts';
import type { ToolSteps } from '../jobs/tool-steps.ts';
import type { People, Person } from '../people/people.ts';
import { hasActed } from './has-acted.ts';

/** A command that goes through the account of the person who gave it. */
export interface Mine<Command extends MappedCommand> {
  /** Calls of tools, as that person. */
  tools: ToolSteps;
  /** The tool of the command, and the one that searches. */
  uses: { own: NonNullable<CommandTools[Command]>; find: FindTool | undefined };
}

/**
 * Decides whether a command goes through the account of the person who gave it: if its connection has a tool for it, and
 * the person has linked an account or has to. A job stays with what it began with, even if the person links or unlinks
 * meanwhile: what it has sent in one way must not be sent in the other.
 *
 * @param by undefined for what no person asked for
 */
export type AsPerson = <Command extends MappedCommand>(
  command: Command,
  by: Person | undefined,
  job: Job,
  steps: Steps,
) => Promise<Mine<Command> | undefined>;

export interface AsPersonOptions {
  config: RelayConfig;
  people: People;
  journal: (jobId: string) => Promise<Journal>;
}

const STEP = 'who acts';
const KEY = 'the key';

export function createAsPerson({ config, people, journal }: AsPersonOptions): AsPerson {
  return async (command, by, job, steps) => {
    const settings = config.connections[job.connection]?.mcp;
    const own = settings?.commands[command];
    const isOn = settings !== undefined && settings.link !== 'off' && own !== undefined;
    const decided = steps.kept<Holder | typeof KEY>(STEP);
    if (!isOn || !by) {
      if (decided === undefined || decided === KEY) return undefined;
      throw new NeedsOperator(`${command} was begun with a tool, and relay.config.ts has none for it any more`);
    }
    const actor =
      decided ??
      (await steps.read(STEP, 'account link', async () => {
        if (hasActed(await journal(job.id))) return KEY;
        const holders = people.holdersFor(by);
        for (const holder of holders) if ((await steps.as(holder).linked()) !== 'no') return holder;
        // A link is required of what is changed from Slack: docs/mcp.md.
        const mustLink = settings.link === 'required' && by.in === 'slack' && command !== 'find';
        return (mustLink && holders.find((holder) => holder.in === 'slack')) || KEY;
      }));
    if (actor === KEY) return undefined;
    return { tools: steps.as(actor), uses: { own, find: settings.commands.find } };
  };
}
