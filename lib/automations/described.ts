import { cutToBytes, cutToLength } from '../text.ts';

/** The limits of the service are not known. The form in Slack takes a title of this length. */
const MAX_TITLE_LENGTH = 255;
/** The default of `maxDescriptionBytes` of an issue's defect. */
export const MAX_DESCRIPTION_BYTES = 32_768;

export const fittingTitle = (title: string) => cutToLength(title, MAX_TITLE_LENGTH, '…');

/** A description with its last lines. They are never cut, because the marker in them identifies the defect. */
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
