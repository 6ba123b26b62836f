import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Cli } from '../../cli/cli.ts';
import { commands, relayProgram } from '../../cli/program.ts';

const root = join(import.meta.dirname, '../..');
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/{*,guides/*,decisions/*}.md', { cwd: root })];
const program = relayProgram();
for (const [name, [, load]] of Object.values(commands).flatMap((group) => Object.entries(group))) {
  const command = program.commands.find((one) => one.name() === name);
  if (command) (await load()).define(command, {} as Cli);
}

/** The texts after `partner-relay` on pages, without quoted values and comments. */
function linesOf(page: string): string[] {
  const found = readFileSync(join(root, page), 'utf8').matchAll(/(?:npx |`)partner-relay +([^`\n]+)/g);
  return [...found].map(([, line = '']) => line.replaceAll(/'[^']*'|"[^"]*"/g, '…').replace(/ #.*| [|>] .*/, ''));
}

/** Unknown commands and options in a command line. */
function faults(line: string): string[] {
  let command: Command = program;
  const wrong: string[] = [];
  let isValue = false;
  for (const word of line.replaceAll(/[.,;)]+(?=\s|$)/g, '').split(/\s+/)) {
    if (word.startsWith('--')) {
      const option = [...command.options, ...program.options].find(({ long }) => long === word);
      // `cdk` takes the CDK's options.
      if (!option && word !== '--help' && command.name() !== 'cdk')
        wrong.push(`${command.name()} has no option ${word}`);
      isValue = option?.required === true;
    } else if (isValue || !/^[a-z][a-z-]*$/.test(word)) {
      isValue = false;
    } else {
      const next = command.commands.find((one) => one.name() === word);
      if (!next && command === program) wrong.push(`there is no command ${word}`);
      command = next ?? command;
    }
  }
  return wrong;
}

it('an error names the help of its command, also of a command with two words', async () => {
  let told = '';
  const own = relayProgram().exitOverride();
  for (const one of own.commands) one.exitOverride().configureOutput({ writeErr: (text) => (told += text) });
  for (const [words, help] of [
    ['jobs --stauts', 'jobs'],
    ['new automation mine', 'new automation'],
    ['secrets set', 'secrets set'],
    ['send hook mine', 'send hook'],
  ] as const) {
    told = '';
    await expect(own.parseAsync(words.split(' '), { from: 'user' })).rejects.toThrow();
    expect(told).toContain(`(npx partner-relay ${help} --help explains this command)`);
  }
});

describe('the commands in the documentation', () => {
  it.each(pages)('exist, with their options: %s', (page) => {
    expect(linesOf(page).flatMap((line) => faults(line).map((fault) => `relay ${line}: ${fault}`))).toEqual([]);
  });

  it.each(['jobs --stauts parked', 'jbos', 'secrets set slack --force'])('a mistake is found: relay %s', (line) => {
    expect(faults(line)).toHaveLength(1);
  });
});
