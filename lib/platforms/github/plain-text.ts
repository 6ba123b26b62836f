import type { Page } from '../../config/pages.ts';
/**
 * Escapes text from outside for a sentence on GitHub, so that it has no Markdown, HTML, mentions, references or
 * addresses.
 */
export function plainText(text: string): string {
  return (
    text
      // Removes marks that reverse the following text.
      .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
      .replaceAll(/[\\`*_{}[\]()<>#+!|~$]/g, '\\$&')
      // At the beginning of a line, these characters start lists, headings, rules, and commands of the relay or other
      // tools.
      .replaceAll(/^(\s*(?:\d+(?=\.)|(?=[-=/])))/gm, '$1\\')
      // A zero-width space breaks up mentions, entities, addresses, issue references and emoji.
      .replaceAll(/[@&#]|:(?=\/\/|[a-z+\\-][\w+\\-]*:)|(?<=\bwww)(?=\.)|\bgh-(?=\d)/gi, '$&\u200b')
  );
}

export const linkTo = ({ name, url }: Page) => `[${plainText(name)}](<${url}>)`;
