import { readFileSync } from 'node:fs';

/**
 * The commands of a section of a page, in their order.
 *
 * @param page below docs/
 * @param heading of the section, which ends with the next one of its level
 */
export function commandsOf(page: string, heading: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  const inOneLine = section.replace(/\\\n\s*/g, '');
  const commands = [...inOneLine.matchAll(/^ {4,}((?:aws|npm|npx) .*)$/gm)].map(([, command = '']) => command);
  if (commands.length === 0) throw new Error(`docs/${page} has no commands in the section ${heading}`);
  return commands;
}
