import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { RUNNING_PATH } from './control-routes.ts';
import type { StackVariables } from './stack.ts';

/** Where `npm start` keeps what it knows; below the folder in which it was started. */
export const STATE_FOLDER = '.relay';

/** A relay that is busy answers late. */
const ANSWER_TIMEOUT_MS = 5_000;

/** What the command line needs to find a relay that runs on this machine. */
export interface RunningRelay {
  /** Of the HTTP front: http://127.0.0.1:8787 */
  url: string;
  /** Of what stands in for Slack; without it the relay speaks to Slack. */
  slackStandIn?: string | undefined;
  variables: StackVariables;
}

const runningRelay = z.object({
  url: z.url(),
  slackStandIn: z.optional(z.url()),
  variables: z.looseObject({ AWS_ACCESS_KEY_ID: z.string() }),
});

const file = () => join(STATE_FOLDER, 'running.json');

/** The header with which this relay's own endpoints let the command line in. */
export function ownKeyHeader({ variables }: RunningRelay): { authorization: string } {
  return { authorization: `Bearer ${variables.AWS_ACCESS_KEY_ID}` };
}

export function noteRunning(running: RunningRelay): void {
  mkdirSync(STATE_FOLDER, { recursive: true, mode: 0o700 });
  writeFileSync(file(), JSON.stringify(running, null, 2), { mode: 0o600 });
}

export function noteStopped(): void {
  rmSync(file(), { force: true });
}

/**
 * The relay that runs in this folder. Its address is asked, with its key: one that was killed has left its note behind,
 * and another process may have its process id by now.
 *
 * @throws {Error} for a note that cannot be read
 */
export async function findRunning(): Promise<RunningRelay | undefined> {
  if (!existsSync(file())) return undefined;
  const running = readNote();
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const { ok } = await fetch(`${running.url}${RUNNING_PATH}`, { headers: ownKeyHeader(running), signal });
    return ok ? running : undefined;
  } catch {
    return undefined;
  }
}

function readNote(): RunningRelay {
  try {
    return runningRelay.parse(JSON.parse(readFileSync(file(), 'utf8'))) as RunningRelay;
  } catch (cause) {
    throw new Error(`${file()} is damaged; stop the relay if one runs here, remove the file, and start again`, {
      cause,
    });
  }
}

/** Takes every right to a folder and all in it from other users: an earlier version left them some. */
export function keepToOwner(folder: string): void {
  if (!existsSync(folder)) return;
  for (const path of [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))]) {
    const { mode } = statSync(path);
    if (mode & 0o077) chmodSync(path, mode & 0o700);
  }
}
