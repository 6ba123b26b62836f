import type { CommandTools, FindTool, MappedCommand } from '../config/mcp.ts';
import type { RelayConfig } from '../config/schema.ts';
import { unservedCommand } from '../config/settings.ts';
import { NeedsOperator, NotDone } from '../engine/record/interruption.ts';
import type { Job } from '../engine/record/job.ts';
import type { AsPerson as Acting } from '../engine/run/acting.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { People, Person } from '../people/people.ts';
import { hasActed, isConfirmed } from './what-happened.ts';

/** A command that goes through the account of the person who gave it. */
export interface Mine<Command extends MappedCommand> {
  holder: Person;
  tools: Acting;
  /** The tool of the command, and the search tool. */
  uses: { own: NonNullable<CommandTools[Command]>; find: FindTool | undefined };
}

/**
 * Decides whether a command uses the account of the person who gave it. It does if its connection has a tool for it and
 * the person has linked an account. A job keeps this decision even if the person links or unlinks in the meantime: a
 * request sent one way must not be repeated the other way. A command from a comment uses an account only if GitHub
 * confirms the comment's author, because the webhook secret alone is enough to forge an event.
 *
 * @param by undefined if no person asked
 * @throws {NotDone} if people have to act in their own name, and the person has no linked account or the command has no
 *   tool
 */
export type AsPerson = <Command extends MappedCommand>(
  command: Command,
  by: Person | undefined,
  job: Job,
  steps: JobSteps,
) => Promise<Mine<Command> | undefined>;

const STEP = 'who acts';
const KEY = 'the key';

/**
 * Returns the first holder with a linked account.
 * @param canBeDead true to accept an account that has to be linked again; its holder is notified
 */
export async function holderOf(
  holders: readonly Person[],
  steps: JobSteps,
  canBeDead: boolean,
): Promise<Person | undefined> {
  for (const holder of holders) {
    const linked = await steps.as(holder).linked();
    if (linked === 'yes' || (linked === 'dead' && canBeDead)) return holder;
  }
  return undefined;
}

export function createAsPerson(config: RelayConfig, people: People): AsPerson {
  function linkFirst(by: Person): NotDone {
    const isKnown = people.holdersFor(by).some((holder) => holder.in === 'slack');
    const todo = isKnown
      ? 'Link your account first'
      : `Ask ${config.contact} to add you to “people”, with your Slack id. Then link your account yourself`;
    return new NotDone(
      `Here, people act in their own name. ${todo}: type ${config.slack?.command} link in Slack. Then ask again`,
    );
  }

  const unconfirmed = () =>
    new NotDone(
      `Here, people act in their own name, and Partner Relay has no permission to read on GitHub who wrote this. Tell ${config.contact}, or ask for this in Slack`,
    );

  return async (command, by, job, steps) => {
    const settings = config.connections[job.connection]?.mcp;
    const own = settings?.accounts === 'off' ? undefined : settings?.commands[command];
    const isRequired = settings?.accounts === 'required';
    async function decide(person: Person): Promise<Person | typeof KEY> {
      if (hasActed(steps)) return KEY;
      if (person.in === 'github' && !isConfirmed(steps)) {
        if (isRequired) throw unconfirmed();
        return KEY;
      }
      const holder = await holderOf(people.holdersFor(person), steps, own !== undefined);
      const typed = `${person.in === 'github' ? '/' : `${config.slack?.command} `}${job.asked?.verb ?? command}`;
      const unserved = settings && unservedCommand(command, settings, typed);
      if (unserved !== undefined) throw new NotDone(unserved);
      if (!holder && isRequired) throw linkFirst(person);
      return holder && own ? holder : KEY;
    }
    // The configuration may have changed since the decision.
    if (!by || !(own || isRequired || steps.isDone(STEP))) return undefined;
    const actor = await steps.decide(STEP, 'account link', () => decide(by));
    if (actor === KEY) return undefined;
    if (!own) {
      throw new NeedsOperator(`${command} was started with a tool, but relay.config.ts no longer has a tool for it`);
    }
    return { holder: actor, tools: steps.as(actor), uses: { own, find: settings?.commands.find } };
  };
}
