import { cutToBytes } from '../text.ts';

/**
 * Why what was typed is not understood, for the person who typed it: what is wrong, and what would be right. It repeats
 * some of what was typed as it is, so whoever shows it escapes it.
 */
export interface Fault {
  fault: string;
  /** What was probably meant, in place of the whole; it can be parsed. */
  suggestion?: string;
}

/** What a verb makes of the text that follows it. `missing` names what should be there. */
export type Reading<Command> = { command: Command } | Fault | { missing: string };

const EXCERPT_BYTES = 80;
/**
 * Slack takes 3,000 characters of text at once, into which this fits when each of its characters is escaped.
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
const SUGGESTION_LENGTH = 500;

/** Something that was typed, in quotation marks, and cut where it is long. */
export function excerpt(typed: string): string {
  return `“${cutToBytes(typed, EXCERPT_BYTES, '…')}”`;
}

/** The fault with a suggestion, unless there is none, or it is too long to be shown. */
export function suggesting(fault: string, suggestion: string | undefined): Fault {
  return suggestion === undefined || suggestion.length > SUGGESTION_LENGTH ? { fault } : { fault, suggestion };
}
