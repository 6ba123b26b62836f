import type { Lane } from '../budget/lanes.ts';
import type { Reading } from '../commands/fault.ts';
import type { RelayConfig, RepositoryConfig, SlackConfig } from '../config/schema.ts';
import type { Asked, JobDraft, ReplyTo } from '../jobs/job.ts';
import type { Person } from '../people/people.ts';
import { cutToLength } from '../text.ts';

/**
 * A verb of the commands that people type, in Slack and in comments on GitHub: how it is read, printed, permitted and
 * turned into a job. `Command` is what it reads. The list of verbs is in verbs.ts.
 */
export interface Verb<Command extends { verb: string }> {
  verb: Command['verb'];
  /** In angle brackets what must be there, in square brackets what may be there. */
  usage: string;
  does: string;
  /** Whole commands. Help shows the first. */
  examples: readonly string[];
  /** Reads what follows the verb: text with single blanks and none at its ends. */
  read(text: string): Reading<Command>;
  /** The whole command in its shortest form. {@link read} reads it as the same command. */
  print(command: Command): string;
  /** The permission in relay.config.ts that limits it; null if everyone may use it. */
  permission: keyof SlackConfig['permissions'] | null;
  /** The setting of a repository that allows it in comments. Without one it is a verb of Slack only. */
  inComments?: keyof Pick<RepositoryConfig, 'completeChecklistItem' | 'logTime'>;
  /** Whether the same command a moment later may be a mistake, so that the person is asked. */
  asksBeforeRepeating: boolean;
  /**
   * Its job. A verb without one is answered at once.
   * @returns undefined where the person has to fill in a form first
   */
  job?(command: Command, origin: CommandOrigin, config: RelayConfig): JobDraft | undefined;
}

/** Where a command was given, and by whom. */
export interface CommandOrigin {
  /** What makes it this command and no other: a `trigger_id`, a comment and its line. */
  happened: readonly (string | number)[];
  by: Person;
  /** The person's name, for texts. */
  byName: string;
  /** When they asked, where the event may be late; epoch milliseconds. */
  askedAt?: number;
  comment?: Asked['comment'];
  unproven?: Asked['unproven'];
  /** The channel in Slack. */
  channelId?: string;
  connection: string;
  lane: Lane;
  /** Jobs of one entity are done one after the other. */
  entity: string;
  replyTo: ReplyTo;
}

/**
 * What the jobs of all verbs have in common.
 * @param asked the command as the summary shows it. A summary goes to the log, so it has no private text
 */
export function eventOf(
  verb: string,
  asked: string,
  { happened, by, comment, unproven, connection, lane, entity, replyTo }: CommandOrigin,
): Omit<JobDraft, 'id' | 'automation' | 'input'> & { happened: CommandOrigin['happened'] } {
  const who = by.in === 'github' ? `@${by.id}` : by.id;
  return {
    ...{ happened, connection, lane, entity, replyTo },
    summary: `${who}: ${cutToLength(asked, 200, '…')}`,
    asked: { verb, by, ...(comment && { comment }), ...(unproven && { unproven }) },
  };
}
