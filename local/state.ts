import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackVariables } from './stack.ts';

/** Where `npm start` keeps what it knows; below the folder in which it was started. */
export const STATE_FOLDER = '.relay';

/** What the command line needs to find a relay that runs on this machine. */
export interface RunningRelay {
  /** Of the HTTP front: http://127.0.0.1:8787 */
  url: string;
  /** Of what stands in for Slack; without it the relay speaks to Slack. */
  slackStandIn?: string | undefined;
  pid: number;
  variables: StackVariables;
}

const file = () => join(STATE_FOLDER, 'running.json');

export function noteRunning(running: RunningRelay): void {
  mkdirSync(STATE_FOLDER, { recursive: true });
  writeFileSync(file(), JSON.stringify(running, null, 2), { mode: 0o600 });
}

export function noteStopped(): void {
  rmSync(file(), { force: true });
}

/** @returns undefined where none runs, also where one was killed and left its note behind */
export function findRunning(): RunningRelay | undefined {
  if (!existsSync(file())) return undefined;
  const running = JSON.parse(readFileSync(file(), 'utf8')) as RunningRelay;
  try {
    process.kill(running.pid, 0);
    return running;
  } catch {
    return undefined;
  }
}
