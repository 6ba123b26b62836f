import { Command } from 'commander';
import { vi } from 'vitest';

/** Runs words as the command line does, with the commands that `add` adds. @returns what it printed */
export async function runCommand(add: (program: Command) => void, ...words: string[]): Promise<string> {
  const quiet = { writeErr: () => {} };
  const program = new Command().exitOverride().configureOutput(quiet);
  add(program);
  const all = [...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  for (const command of all) command.exitOverride().configureOutput(quiet);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await program.parseAsync(words, { from: 'user' });
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
  }
}
