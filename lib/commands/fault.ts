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

const EXCERPT_BYTES = 80;
/** A button's value has 2,000 characters: https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const SUGGESTION_LENGTH = 1_000;

/** Something that was typed, in quotation marks, and cut where it is long. */
export function excerpt(typed: string): string {
  return `“${cutToBytes(typed, EXCERPT_BYTES, '…')}”`;
}

/** The fault with a suggestion, unless there is none or it is too long for a button. */
export function suggesting(fault: string, suggestion: string | undefined): Fault {
  return suggestion === undefined || suggestion.length > SUGGESTION_LENGTH ? { fault } : { fault, suggestion };
}
