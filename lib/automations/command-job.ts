import type { Lane } from '../budget/lanes.ts';
import type { Command } from '../commands/command.ts';
import { printCommand } from '../commands/command.ts';
import { type JobDraft, jobId, type ReplyTo } from '../jobs/job.ts';
import type { Person } from '../people/people.ts';
import { cutToLength } from '../text.ts';
import { type ChecklistItems, COMPLETE_CHECKLIST_ITEM } from './complete-checklist-item.ts';
import { FIND, type Search } from './find.ts';
import { LOG_TIME, type TimeToLog } from './log-time.ts';
import type { Unproven } from './of-collaborators.ts';
import type { WrittenLine } from './still-written.ts';

/** A command that becomes a job wherever it is given. */
export type JobCommand = Extract<Command, { verb: 'done' | 'undo' | 'log' | 'find' }>;

/** Where a command was given, and by whom. */
export interface CommandPlace {
  /** What makes it this command and no other: a trigger_id, a comment and its line. */
  happened: readonly (string | number)[];
  by: Person;
  /** Where the event may be late; epoch milliseconds. */
  askedAt?: number;
  /** Where it can be deleted or changed before the job runs. */
  comment?: WrittenLine;
  unproven?: Unproven | undefined;
  connection: string;
  lane: Lane;
  /** Jobs of one entity are done one after the other. */
  entity: string;
  group?: string;
  replyTo: ReplyTo;
}

/** The job of a command. */
export function commandJob(
  command: JobCommand,
  { happened, by, askedAt, comment, unproven, ...place }: CommandPlace,
): JobDraft {
  const { automation, input } = workOf(command, by, askedAt);
  return {
    ...place,
    id: jobId(automation, ...happened),
    automation,
    summary: `${by.in === 'github' ? `@${by.id}` : by.id}: ${cutToLength(printCommand(withoutNote(command)), 200, '…')}`,
    input: { ...input, verb: command.verb, ...(comment && { comment }), ...(unproven && { unproven }) },
  };
}

/** A summary goes to the log, and a note is nobody else's business. */
function withoutNote(command: JobCommand): JobCommand {
  if (command.verb !== 'log') return command;
  const { note, ...rest } = command;
  return rest;
}

function workOf(command: JobCommand, by: Person, askedAt: number | undefined): { automation: string; input: object } {
  switch (command.verb) {
    case 'done':
    case 'undo': {
      const input: ChecklistItems = { items: command.items, completed: command.verb === 'done' };
      return { automation: COMPLETE_CHECKLIST_ITEM, input };
    }
    case 'log': {
      const { verb, ...time } = command;
      const input: TimeToLog = { by, ...time, ...(askedAt !== undefined && { askedAt }) };
      return { automation: LOG_TIME, input };
    }
    case 'find': {
      const input: Search = { text: command.text };
      return { automation: FIND, input };
    }
  }
}
