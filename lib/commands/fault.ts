import { cutToBytes } from '../text.ts';

/**
 * Tells a person why their input is not understood: what is wrong and what to type instead. It quotes the input
 * unescaped, so escape it before you show it. Where only Slack shows it, `{slash}` is the command, `/pm`.
 */
export interface CommandFault {
  fault: string;
  /** Replacements for the whole input. The person probably meant one of them. Each can be parsed. Not empty. */
  suggestions?: readonly string[];
  /** The verb is like no other one: the commands that are on in that place are worth a list. */
  isUnknown?: true;
}

/** The result of reading the text after a verb. `missing` names what should be there. */
export type Reading<Command> = { command: Command } | CommandFault | { missing: string };

const EXCERPT_BYTES = 80;
/**
 * Slack accepts 3,000 characters per text. An excerpt of this size fits even if every character is escaped.
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
const SUGGESTION_LENGTH = 500;

/** For `undo`, `delete` and the like, where people look for it. */
export const CHANGED = 'Partner Relay cannot change or delete time, tasks or defects. Do that in the service.';

/** A person's input in quotation marks, shortened if it is long. */
export function excerpt(typed: string): string {
  return `“${cutToBytes(typed, EXCERPT_BYTES, '…')}”`;
}

/** Adds the suggestions to the fault, except those that are too long to show. */
export function suggesting(fault: string, suggestions: readonly string[] = []): CommandFault {
  const short = suggestions.filter(({ length }) => length <= SUGGESTION_LENGTH);
  return short.length === 0 ? { fault } : { fault, suggestions: short };
}
