import type { Languages } from '../commands/day-names.ts';
import type { Reading } from '../commands/fault.ts';
import type { OurPermission, RelayConfig, RepositoryConfig } from '../config/schema.ts';
import type { Asked, JobDraft, ReplyTo } from '../engine/record/job.ts';
import type { Person } from '../people/people.ts';
import type { Lane } from '../service/budget/lanes.ts';
import { cutToLength } from '../text.ts';

/** A verb of the commands that people type in Slack and GitHub comments. `Command` is what it reads. */
export interface Verb<Command extends { verb: string }> {
  verb: Command['verb'];
  /** Required parts are in angle brackets, optional parts in square brackets. */
  usage: string;
  does: string;
  /** Complete commands. Help shows the first one. */
  examples: readonly string[];
  /** Reads the text after the verb, which is trimmed and has single spaces. */
  read(text: string, languages: Languages): Reading<Command>;
  /** Prints the whole command in its shortest form. {@link read} returns the same command for it. */
  print(command: Command): string;
  /** The permission in relay.config.ts that restricts the verb; null if everyone may use it. */
  permission: string | null;
  /** True if the verb works only on connections where people link accounts. */
  needsAccounts?: true;
  /** True if the verb works only in channels that have a project. */
  needsProject?: true;
  /** True for a custom command: only its steps show whether it needs the person's account. */
  isCustom?: true;
  /** The repository setting that allows the verb in comments, or true. Without it, the verb works only in Slack. */
  inComments?: keyof Pick<RepositoryConfig, 'completeChecklistItem' | 'logTime'> | true;
  /**
   * Returns why a command may be a mistake, so that the person is asked to confirm; undefined if it is probably none.
   */
  doubt?(command: Command, now: number): string | undefined;
  /** Drafts the command's job. Without it, `answer` in lib/intake/slack/receive-command.ts answers. */
  job?(command: Command, origin: CommandOrigin, config: RelayConfig): JobDraft | undefined;
}

/**
 * A verb that creates a job for each command. It always has a permission, because that check also ensures that people
 * act in their own name where that is required.
 */
export interface JobVerb<Command extends { verb: string }> extends Verb<Command> {
  permission: OurPermission;
  job(command: Command, origin: CommandOrigin, config: RelayConfig): JobDraft;
}

/** The fields shared by all verbs without arguments. */
export const bare = <V extends string>(verb: V, does: string) =>
  ({
    verb,
    usage: verb,
    does,
    examples: [verb],
    read: (text: string) =>
      text === '' ? { command: { verb } } : { fault: `Write only “{slash} ${verb}”.`, suggestions: [verb] },
    print: () => verb,
  }) satisfies Partial<Verb<{ verb: V }>>;

/** Where a command was given, and by whom. */
export interface CommandOrigin {
  /** Identifies the command: a `trigger_id`, or a comment and its line. */
  happened: readonly (string | number)[];
  by: Person;
  /** The person's name, for messages. */
  byName: string;
  /** When the person asked, because the event may arrive late; epoch milliseconds. */
  askedAt?: number;
  comment?: Asked['comment'];
  unproven?: Asked['unproven'];
  channelId?: string;
  /** Set if the person confirmed the command. */
  isSure?: true;
  connection: string;
  lane: Lane;
  /** Jobs with the same entity run one after the other. */
  entity: string;
  replyTo: ReplyTo;
}

/**
 * The fields shared by the jobs of all verbs.
 * @param asked the command as shown in the summary; it is logged, so it must not contain private text
 */
export function eventOf(
  verb: string,
  asked: string,
  { happened, by, byName, askedAt: at, comment, unproven, connection, lane, entity, replyTo }: CommandOrigin,
): Omit<JobDraft, 'id' | 'automation' | 'input'> & { happened: CommandOrigin['happened'] } {
  const who = by.in === 'github' ? `@${by.id}` : by.id;
  return {
    happened,
    connection,
    lane,
    entity,
    replyTo,
    summary: `${who}: ${cutToLength(asked, 200, '…')}`,
    asked: {
      verb,
      by,
      ...(by.in === 'slack' && { byName }),
      ...(at !== undefined && { at }),
      ...(comment && { comment }),
      ...(unproven && { unproven }),
    },
  };
}
