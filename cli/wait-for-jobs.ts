import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { findNewJobs } from '../lib/engine/operate/find-jobs.ts';
import { hasEnded, type Job } from '../lib/engine/record/job.ts';
import { createShowJob } from '../lib/people/names.ts';
import type { Stores } from '../lib/runtime.ts';
import { readCount } from './numbers.ts';
import { printJobs, printJson, withIsoTimes } from './print.ts';

const LOOK_EVERY_MS = 300;
/** How long the index of jobs may lag behind. */
const INDEXED_WITHIN_MS = 3_000;
/** The options of commands that can wait for the jobs they make. */
export interface WaitOptions {
  wait?: boolean;
  /** Seconds. */
  timeout?: number;
  json?: boolean;
}

const SECONDS = 60;

export function addWaitOptions(command: Command): Command {
  return command
    .option(
      '--wait',
      'wait for its jobs; the exit code is 0 if all have succeeded, 1 if a job is parked, not done or discarded, and 2 if a job has not ended yet',
    )
    .option('--timeout <seconds>', `with --wait: for how long; by default ${SECONDS}`, readCount);
}

/** Runs before anything is sent. @throws {Error} for `--wait` if the jobs of the relay cannot be read */
export function refuseToWaitFor(url: string | undefined, wait: boolean | undefined): void {
  if (url !== undefined && wait)
    throw new Error('--wait reads the jobs of the relay in this folder or of a --stage: leave out --url');
}

/**
 * Prints the sent request as JSON if requested and, with `--wait`, how its jobs ended. Sets the exit code.
 *
 * @param stores undefined if the relay's jobs cannot be read
 */
export async function printOutcome(
  sent: object,
  ids: readonly string[],
  stores: Pick<Stores, 'jobs' | 'table' | 'clock'> | undefined,
  { wait, timeout = SECONDS, json }: WaitOptions,
): Promise<void> {
  if (!wait || !stores) return json ? printJson(sent) : undefined;
  const jobs = await ended(stores, ids, Date.now() + timeout * 1000);
  if (json) printJson(withIsoTimes({ ...sent, jobs }));
  else if (jobs.length > 0) printJobs(await Promise.all(jobs.map(createShowJob(stores))));
  else console.log('The event made no job.');
  if (jobs.some(({ status }) => status !== 'succeeded')) process.exitCode = jobs.every(hasEnded) ? 1 : 2;
}

/** Reads the jobs until they have ended, but not longer than `until`. @param until epoch milliseconds */
async function ended({ jobs }: Pick<Stores, 'jobs'>, ids: readonly string[], until: number): Promise<Job[]> {
  const read = ids.map(async (id) => {
    for (;;) {
      const job = await jobs.get(id);
      if (!job || hasEnded(job) || Date.now() > until) return job;
      await sleep(LOOK_EVERY_MS);
    }
  });
  return (await Promise.all(read)).filter((job) => job !== undefined);
}

/** The jobs of one delivery or command. */
export async function jobsOf({ table }: Pick<Stores, 'table'>, delivery: string): Promise<string[]> {
  for (const until = Date.now() + INDEXED_WITHIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    const jobs = await findNewJobs(table, delivery, Date.now());
    // A job may appear twice if its status changes while the index is read.
    if (jobs.length > 0 || Date.now() > until) return [...new Set(jobs.map(({ id }) => id))];
  }
}
