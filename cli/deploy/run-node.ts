import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program with this Node and this terminal. @returns its exit code */
export async function runNode(file: string, words: readonly string[]): Promise<number> {
  const [code] = await once(spawn(process.execPath, [file, ...words], { stdio: 'inherit' }), 'exit');
  // A program that a signal ended has no exit code.
  return code ?? 1;
}
