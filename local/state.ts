import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { projectFolder } from '../lib/project.ts';
import { RUNNING_PATH } from './control-routes.ts';
import { writeOwnFile } from './own-file.ts';
import type { StackVariables } from './stack.ts';

/**
 * The folder `.relay` of the project, relative to the current folder: where the relay on this machine keeps its state.
 */
export const STATE_FOLDER = join(relative(process.cwd(), projectFolder()), '.relay');

/** A busy relay answers late. */
const ANSWER_TIMEOUT_MS = 5_000;

const withKey = z.looseObject({ AWS_ACCESS_KEY_ID: z.string() });

/** The file by which the command line finds a running relay on this machine. */
const runningRelay = z.object({
  /** The URL of the HTTP front: http://127.0.0.1:8787 */
  url: z.url(),
  /** The URL of the Slack stand-in. Without it, the relay uses Slack itself. */
  slackStandIn: z.optional(z.url()),
  /** The URL of GitHub's stand-in. Without it, the relay uses GitHub itself, if it has credentials. */
  githubStandIn: z.optional(z.url()),
  /** The log of the functions. */
  logFile: z.string(),
  /** The address of the console, with its token. */
  console: z.url(),
  /** The URL of the sandbox. Without it, the relay calls a real instance. */
  sandbox: z.optional(z.url()),
  variables: z.custom<StackVariables>((given) => withKey.safeParse(given).success),
});
export type RunningRelay = z.output<typeof runningRelay>;

const file = () => join(STATE_FOLDER, 'running.json');

/** The header with which the command line calls this relay's own endpoints. */
export function ownKeyHeader({ variables }: RunningRelay): { authorization: string } {
  return { authorization: `Bearer ${variables.AWS_ACCESS_KEY_ID}` };
}

export function noteRunning(running: RunningRelay): void {
  writeOwnFile(file(), JSON.stringify(running, null, 2));
}

export function noteStopped(): void {
  rmSync(file(), { force: true });
}

/** True if the last relay of this folder did not stop normally: it still runs, or it was killed. */
export const isNotedAsRunning = () => existsSync(file());

/**
 * Finds the relay that runs in this folder, with a request that has its key: a killed relay leaves its file behind, and
 * another process may have its process id by now.
 *
 * @throws {Error} if the file cannot be read, or with the reason why that relay accepts nothing
 */
export async function findRunning(): Promise<RunningRelay | undefined> {
  if (!existsSync(file())) return undefined;
  const running = readNote();
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const asked = fetch(`${running.url}${RUNNING_PATH}`, { headers: ownKeyHeader(running), signal });
  const answer = await asked.catch(() => undefined);
  if (answer?.status === 503)
    throw new Error(`the relay at ${running.url} accepts nothing: ${(await answer.text()).trim()}`);
  return answer?.ok ? running : undefined;
}

function readNote(): RunningRelay {
  try {
    return runningRelay.parse(JSON.parse(readFileSync(file(), 'utf8')));
  } catch (cause) {
    throw new Error(`${file()} is damaged; stop the relay if one runs here, remove the file, and start again`, {
      cause,
    });
  }
}
