import { cutToBytes } from '../text.ts';

/**
 * Tells a person why their input is not understood: what is wrong and what to type instead. It quotes the input
 * unescaped, so escape it before you show it.
 */
export interface CommandFault {
  fault: string;
  /** A replacement for the whole input that was probably meant. It can be parsed. */
  suggestion?: string;
}

/** The result of reading the text after a verb. `missing` names what should be there. */
export type Reading<Command> = { command: Command } | CommandFault | { missing: string };

const EXCERPT_BYTES = 80;
/**
 * Slack accepts 3,000 characters per text. An excerpt of this size fits even if every character is escaped.
 * https://docs.slack.dev/reference/block-kit/blocks/section-block
 */
const SUGGESTION_LENGTH = 500;

/** A person's input in quotation marks, shortened if it is long. */
export function excerpt(typed: string): string {
  return `“${cutToBytes(typed, EXCERPT_BYTES, '…')}”`;
}

/** Adds the suggestion to the fault, unless there is none or it is too long to show. */
export function suggesting(fault: string, suggestion: string | undefined): CommandFault {
  return suggestion === undefined || suggestion.length > SUGGESTION_LENGTH ? { fault } : { fault, suggestion };
}
