import type { Job } from '../record/job.ts';

/** How often a job may be sent again, for any wait: several short waits in a row are usual. */
const FREE_SENDS = 20;
/**
 * The time that explains one more. No wait is shorter for long: the shortest are 5 s, for the first time entry, and where
 * Slack or GitHub asks for less.
 */
const EXPLAINS_ONE_MS = 4_000;

/**
 * Lambda's own guard against loops is off, because one job's worker sends the message of the next
 * (infra/job-worker.ts). A job that is sent again much more often than its waits explain is in a loop.
 *
 * @param now epoch milliseconds
 * @returns how often it was sent since it last got on, if that is too often
 */
export function sentTooOften({ generation, createdAt, gotOn }: Job, now: number): number | undefined {
  const since = gotOn ?? { generation: 1, at: createdAt };
  const sends = generation - since.generation;
  const explained = Math.max(0, now - since.at) / EXPLAINS_ONE_MS;
  return sends > FREE_SENDS + explained ? sends : undefined;
}
