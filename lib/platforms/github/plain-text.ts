/** Text from outside for a sentence on GitHub, in which Markdown, HTML, mentions, references and addresses mean nothing. */
export function plainText(text: string): string {
  // A zero-width space breaks mentions, entities and addresses.
  return text.replaceAll(/[\\`*_{}[\]()<>#+!|~]/g, '\\$&').replaceAll(/[@&#]|:(?=\/\/)|(?<=\bwww)(?=\.)/gi, '$&\u200b');
}
