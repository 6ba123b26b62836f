import { cutToBytes } from '../text.ts';

/**
 * Why a person's input is not understood, and what to type instead. Quotes the input unescaped, so escape it before
 * showing it. `{slash} log` stands for the command as people type it: `/pm log` in Slack, `/log` on GitHub.
 */
export interface CommandFault {
  fault: string;
  /** Possible replacements for the whole input. Each can be parsed. Not empty. */
  suggestions?: readonly string[];
  /** True if the verb resembles no other, so that a list of the usable commands helps. */
  isUnknown?: true;
}

/** The result of reading the text after a verb. `missing` names the missing part. */
export type Reading<Command> = { command: Command } | CommandFault | { missing: string };

const EXCERPT_BYTES = 80;
/**
 * Slack accepts 3,000 characters per text. An excerpt of this size fits even if every character is escaped.
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
const SUGGESTION_LENGTH = 500;

/** The answer to `undo`, `delete` and similar words. */
export const CHANGED = 'Partner Relay cannot change or delete time, tasks or defects. Do that in the service.';

/** Returns a person's input in quotation marks, shortened if it is long. */
export function excerpt(typed: string): string {
  return `“${cutToBytes(typed, EXCERPT_BYTES, '…')}”`;
}

/** Adds suggestions to a fault, except those that are too long to show. */
export function suggesting(fault: string, suggestions: readonly string[] = []): CommandFault {
  const short = suggestions.filter(({ length }) => length <= SUGGESTION_LENGTH);
  return short.length === 0 ? { fault } : { fault, suggestions: short };
}
