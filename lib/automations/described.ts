import { cutToBytes, cutToLength } from '../text.ts';

/** The service's limits are unknown. The form in Slack accepts a title of this length. */
const MAX_TITLE_LENGTH = 255;
/** Also the default of `maxDescriptionBytes` of an issue's defect. */
export const MAX_DESCRIPTION_BYTES = 32_768;

export const fittingTitle = (title: string) => cutToLength(title, MAX_TITLE_LENGTH, '…');

/**
 * Appends a footer to a description. Only the text before the footer is cut, because the marker in the footer
 * identifies the defect.
 */
export function withFooter(
  text: string,
  footer: string,
  maxBytes = MAX_DESCRIPTION_BYTES,
  note = '\n[Cut here.]',
): string {
  const last = `---\n${footer}`;
  const shown = cutToBytes(text, maxBytes - Buffer.byteLength(`\n\n${last}`), note);
  return text === '' ? last : `${shown}\n\n${last}`;
}
