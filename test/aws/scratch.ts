import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface ProgramOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Kills the program and its child processes. */
  signal?: AbortSignal;
}

export interface Printed {
  stdout: string;
  stderr: string;
}

/** A folder and the programs of one test. They end with the test, even if it is interrupted or killed. */
export interface Scratch {
  folder: string;
  /** Starts a program as the leader of a process group, so that its child processes end with it. */
  start(program: string, args: readonly string[], options?: ProgramOptions): Child;
  /**
   * Runs a program to its end.
   * @throws {Error} with its output if it fails, or with the system's error if it does not exist
   */
  run(program: string, args: readonly string[], options?: ProgramOptions): Promise<Printed>;
  close(): Promise<void>;
}

export async function openScratch(): Promise<Scratch> {
  // In its own process group, because the Ctrl+C that ends the test must not end its cleaner.
  const cleaner = spawn(process.execPath, [join(import.meta.dirname, 'cleaner.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const cleaned = once(cleaner, 'exit');
  // Start nothing before the cleaner is ready to end it.
  const ready = await Promise.race([once(cleaner.stdout, 'data'), cleaned.then(() => undefined)]);
  if (!ready) throw new Error('test/aws/cleaner.ts does not start');
  // The CDK CLI and Python resolve links, and /tmp is a link on some machines.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'partner-relay-aws-')));
  cleaner.stdin.write(`folder ${folder}\n`);
  // The emulator runs CommonJS below this folder, whatever a package.json above it says.
  await writeFile(join(folder, 'package.json'), '{}');

  function start(program: string, args: readonly string[], { cwd = folder, env, signal }: ProgramOptions = {}): Child {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const { pid } = child;
    if (pid === undefined) return child;
    cleaner.stdin.write(`group ${pid}\n`);
    const kill = () => killGroup(pid);
    signal?.addEventListener('abort', kill);
    child.once('exit', () => {
      // Child processes may still run.
      kill();
      signal?.removeEventListener('abort', kill);
      if (cleaner.stdin.writable) cleaner.stdin.write(`ended ${pid}\n`);
    });
    return child;
  }

  return {
    folder,
    start,
    async run(program, args, options = {}) {
      options.signal?.throwIfAborted();
      const child = start(program, args, options);
      const printed = Promise.all([text(child.stdout), text(child.stderr)]);
      const [code, killedBy] = await once(child, 'close');
      const [stdout, stderr] = await printed;
      if (code === 0) return { stdout, stderr };
      const end = killedBy === null ? `ended with ${code}` : `was ended by ${killedBy}`;
      throw new Error([`${program} ${args.join(' ')} ${end}`, stdout, stderr].join('\n').trim());
    },
    async close() {
      cleaner.stdin.end();
      await cleaned;
    },
  };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
