import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A command that prints nothing for longer than any test file takes counts as hung, and is stopped. */
const SILENCE_MINUTES = 5;

/** The end of a hung command's output. */
export const HUNG = `Nothing was printed for ${SILENCE_MINUTES} minutes.`;

/**
 * Copies the files that Git knows or would add, with the same node_modules. Tests that start other processes start them
 * from the copy, so these run the changed code.
 */
export function copyToScratch(root: string): string {
  const scratch = mkdtempSync(join(tmpdir(), 'mutants-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.toString().split('\0')) {
    if (file && existsSync(join(root, file))) cpSync(join(root, file), join(scratch, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
  process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
  return scratch;
}

/**
 * Runs a program of node_modules/.bin in the copy.
 *
 * @returns its output if it failed or hung, else undefined
 */
export async function failureOf(scratch: string, program: string, ...words: string[]): Promise<string | undefined> {
  const programs = join(scratch, 'node_modules/.bin');
  const { CI: _, ...rest } = process.env;
  // These programs include the project's own Node.
  const env = { ...rest, PATH: `${programs}:${rest.PATH}`, NO_COLOR: '1' };
  // In its own process group, so that the processes of a test stop with it.
  const child = spawn(program, words, { cwd: scratch, env, detached: true });
  const streams = [child.stdout, child.stderr];
  const stop = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  };
  process.once('exit', stop);
  // Processes that a test has left would keep the streams open.
  child.once('exit', stop);
  let printed = '';
  const silence = setTimeout(() => {
    printed += HUNG;
    stop();
    for (const stream of streams) stream.destroy();
  }, SILENCE_MINUTES * 60_000);
  for (const stream of streams) {
    stream.on('data', (data) => {
      printed += data;
      silence.refresh();
    });
  }
  const [code] = await once(child, 'close');
  clearTimeout(silence);
  process.off('exit', stop);
  return code === 0 ? undefined : printed;
}
