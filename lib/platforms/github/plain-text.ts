import type { Page } from '../../config/pages.ts';
/** Text from outside for a sentence on GitHub, in which Markdown, HTML, mentions, references and addresses mean nothing. */
export function plainText(text: string): string {
  return (
    text
      // Marks that reverse the text after them.
      .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
      .replaceAll(/[\\`*_{}[\]()<>#+!|~$]/g, '\\$&')
      // At the beginning of a line, these make lists, headings, rules and the commands of the relay and of other tools.
      .replaceAll(/^(\s*(?:\d+(?=\.)|(?=[-=/])))/gm, '$1\\')
      // A zero-width space breaks mentions, entities, addresses, references to issues and emoji.
      .replaceAll(/[@&#]|:(?=\/\/|[a-z+\\-][\w+\\-]*:)|(?<=\bwww)(?=\.)|\bgh-(?=\d)/gi, '$&\u200b')
  );
}

/** A link in Markdown. */
export const linkTo = ({ name, url }: Page) => `[${plainText(name)}](<${url}>)`;
