import { readFileSync } from 'node:fs';

/**
 * Returns the commands of a page's section, in order.
 *
 * @param page below docs/
 * @param heading of the section, which ends at the next heading of its level
 */
export function commandsOf(page: string, heading: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  const inOneLine = section.replace(/\\\n\s*/g, '');
  const commands = [...inOneLine.matchAll(/^ {4,}((?:aws|npm|npx) .*)$/gm)].map(([, command = '']) => command);
  if (commands.length === 0) throw new Error(`docs/${page} has no commands in the section ${heading}`);
  return commands;
}
