import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from '../cli/cli.ts';
import { commands, relayProgram } from '../cli/program.ts';
import { entries } from './declarations.ts';

const STEPS = 'lib/triggers/steps.d.ts';
/** These declarations are described in docs/configuration.md and docs/partner-api.md. */
const ELSEWHERE = /^lib\/(?:config|service)\//;

interface Declaration {
  file: string;
  name: string;
  text: string;
}

/**
 * Lists the exports of the package's entries, and each declaration that they reach, without comments.
 *
 * @param folder with the declarations
 */
export function exportsIn(folder: string): { exports: string; steps: string } {
  const all = globSync('**/*.d.ts', { cwd: folder })
    .sort()
    .flatMap((file) => declarationsIn(folder, file));
  const reached = new Set<Declaration>();
  const lists = entries.map(({ entry, file }) => {
    const exported = statementsIn(folder, file).filter((text) => text.startsWith('export ') && text !== 'export {};');
    const names = exported.map(
      (text) => DECLARED.exec(text)?.[1] ?? text.replaceAll(/^export (?:type )?| from .*|[{}]/g, '').trim(),
    );
    for (const one of all) if (names.join(', ').split(', ').includes(one.name)) reach(one);
    return `// ${entry}: ${names.join(', ')}\n`;
  });
  const textOf = (isStep: boolean) =>
    Array.from(reached, ({ file, text }) => ((file === STEPS) === isStep ? `\n${text}\n` : '')).join('');
  return { exports: `${lists.join('')}${textOf(false)}`, steps: textOf(true).trimStart() };

  function reach(one: Declaration): void {
    if (reached.has(one)) return;
    reached.add(one);
    if (ELSEWHERE.test(one.file)) return;
    const names = new Set(one.text.match(/\w+/g));
    for (const other of all) if (names.has(other.name) && !ELSEWHERE.test(other.file)) reach(other);
  }
}

const DECLARED = /^(?:export )?(?:declare )?(?:const|function|class|type|interface) (\w+)/;

const declarationsIn = (folder: string, file: string): Declaration[] =>
  statementsIn(folder, file).flatMap(
    (text) =>
      DECLARED.exec(text)
        ?.slice(1)
        .map((name) => ({ file, name, text })) ?? [],
  );

/** The statements of a file, without comments. */
function statementsIn(folder: string, file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8').replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '');
  return text.trimEnd().split(/\n(?=(?:export|declare|type|interface|import) )/);
}

/** Returns `--help` of each command. */
export async function helpOfAll(): Promise<string> {
  const program = relayProgram();
  for (const [name, [, load]] of Object.values(commands).flatMap((group) => Object.entries(group))) {
    const command = program.commands.find((one) => one.name() === name);
    if (command) (await load()).define(command, {} as Cli);
  }
  return textOf(program);
}

function textOf(command: Command): string {
  // Without a width, the help would be as wide as the terminal.
  const help = command.configureHelp({ helpWidth: 100 }).helpInformation();
  return [help, ...command.commands.map(textOf)].join('\n');
}
