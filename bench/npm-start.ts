import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { WEBHOOK_SECRET } from './opened-issue.ts';

const GIVE_UP_MS = 30_000;

/** A running `npm start`. */
export interface StartedRelay {
  /** Of the webhook. */
  url: string;
  /** Of the sandbox. */
  service: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts the relay in that folder, on a port that is free and with the example's webhook secret.
 *
 * @param variables more of its environment
 */
export async function startRelayProcess(
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedRelay> {
  // Started without npm, which would not pass on signals.
  const [, ...words] = packageJson.scripts.start.split(' ');
  const script = fileURLToPath(new URL(`../${words.pop()}`, import.meta.url));
  const child = spawn(process.execPath, [...words, script], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    // The lines of every job come after the banner.
    if (output.length < 10_000) output += chunk;
  });
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  while (!output.includes('send issues')) await once(child.stdout, 'data', { signal });
  const printed = (name: string) => new RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? '';
  return {
    url: printed('webhook'),
    service: printed('service'),
    process: child,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Resident memory in bytes of a process and of the processes that it started. */
export function residentBytes(pid: number): { own: number; children: number } {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' }).trim().split('\n');
  const processes = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const sum = (wanted: (own: number | undefined, parent: number | undefined) => boolean) =>
    processes.filter(([own, parent]) => wanted(own, parent)).reduce((sum, [, , kilobytes = 0]) => sum + kilobytes, 0) *
    1_024;
  return { own: sum((own) => own === pid), children: sum((_, parent) => parent === pid) };
}
