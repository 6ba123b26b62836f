import * as z from 'zod/mini';
import { hasEnded, type Job, waitOf } from '../engine/record/job.ts';
import type { JobStore } from '../engine/record/job-store.ts';
import type { Lane } from '../service/budget/lanes.ts';
import { expiry } from '../state/table/expiry.ts';
import { keys } from '../state/table/keys.ts';
import type { Item, Table } from '../state/table/table.ts';
import { ifReadable, storedTime, unchangedSince } from '../state/table/unreadable-item.ts';
import type { Person } from './people.ts';

/** How many jobs of one person may run or wait at a time. Further requests are refused. */
export const MOST_UNDER_WAY = 10;

/** The message for a refused command. */
export const TOO_MANY = `You have ${MOST_UNDER_WAY} unfinished requests, the maximum. Try again when one is done.`;
/** Returns the message for Slack. @param slash the command, `/pm` */
export const tooMany = (slash: string): string => `${TOO_MANY} ${slash} status shows five of them.`;

/** Shares the budget between people: docs/decisions/0019-people-take-turns.md. */
export type Turns = ReturnType<typeof createTurns>;

/** How a job's command is recorded. */
export interface TakingCommand {
  /** True if the job reports its end to nobody. /pm status does not show such a job. */
  isHidden?: boolean;
  /** The person's requests, if the caller has just read them. */
  readBefore?: ReadTurns;
}

export type ReadTurns = ReturnType<typeof readTurns>;

/** A request within this time after another one does not count as a first command. */
const FURTHER_WITHIN_MS = 60_000;
/** A job that is not stored within this time never will be, because its webhook crashed. */
const STORED_WITHIN_MS = 10_000;
/** More commands than a person types at the same time. */
const CONTENDED_TRIES = 8;
/** How many of a person's last jobs are kept for /pm status: enough for the unfinished ones. */
const MOST_KEPT = 15;

/** Reads a person's requests, even if the item has expired, because the next write is conditional on its version. */
export const readTurns = (table: Table, person: Person) => table.getEvenExpired(keys.turns(person.in, person.id));

/** Returns the last stored jobs that the person requested, newest first. */
export async function lastJobs(table: Table, jobs: JobStore, person: Person): Promise<Job[]> {
  const { asked } = readTurnsItem(await readTurns(table, person));
  const found = await Promise.all(asked.map((id) => ifReadable(jobs.get(id))));
  return found.filter((job) => job !== undefined).reverse();
}

/** True unless the job has ended for the person: one that only repeats its call has, and a question may wait for days. */
function isAwaited(job: Job): boolean {
  const waitsFor = waitOf(job)?.for;
  return !hasEnded(job) && waitsFor !== 'late call' && waitsFor !== 'question';
}

/** True if the next request of a person would not be a first command. @param last the person's last jobs */
export const isNextFurther = (last: readonly Job[], now: number): boolean =>
  last.some((job) => isAwaited(job) || job.createdAt + FURTHER_WITHIN_MS > now);

export function createTurns(table: Table, jobs: JobStore, clock: () => number) {
  async function isUnderWay({ id, at }: NotedJob): Promise<boolean> {
    const job = await ifReadable(jobs.get(id));
    if (!job) return at + STORED_WITHIN_MS > clock();
    return isAwaited(job);
  }

  async function underWay(noted: readonly NotedJob[]): Promise<NotedJob[]> {
    const are = await Promise.all(noted.map(isUnderWay));
    return noted.filter((_, index) => are[index]);
  }

  /** @returns undefined if the job is not stored */
  async function laneOf(jobId: string): Promise<{ lane: Lane } | undefined> {
    const job = await ifReadable(jobs.get(jobId));
    return job && { lane: job.lane };
  }

  return {
    /**
     * Records a requested job before it is stored. Never refuses a job that is already stored, because that job was
     * accepted.
     * @returns the job's lane, or `too many` if too many of the person's jobs have not ended
     */
    async take(
      person: Person,
      jobId: string,
      { isHidden = false, readBefore }: TakingCommand = {},
    ): Promise<{ lane: Lane } | 'too many'> {
      const key = keys.turns(person.in, person.id);
      for (let tries = 0; tries < CONTENDED_TRIES; tries++) {
        const item = await (readBefore && tries === 0 ? readBefore : readTurns(table, person));
        const { noted, asked, lastAt, version } = readTurnsItem(item);
        const now = clock();
        // Almost every job is new, so it is read only if something suggests a repeat.
        const isKnown = noted.some(({ id }) => id === jobId) || asked.includes(jobId);
        const accepted = isKnown || tries > 0 ? await laneOf(jobId) : undefined;
        if (accepted) return accepted;
        const others = noted.filter(({ id }) => id !== jobId);
        const isSoon = lastAt + FURTHER_WITHIN_MS > now;
        // Ended jobs are removed only when it matters, so that no job has to remove its own record.
        const kept = isSoon && others.length < MOST_UNDER_WAY ? others : await underWay(others);
        if (kept.length >= MOST_UNDER_WAY) break;
        const turn: TurnsItem = {
          noted: [...kept, { id: jobId, at: now }],
          asked: isHidden ? asked : [...asked.filter((id) => id !== jobId), jobId].slice(-MOST_KEPT),
          lastAt: now,
          version: version + 1,
        };
        const written = await table.put(
          { ...key, ...turn, expiresAt: expiry(now) },
          unchangedSince('version', item?.version),
        );
        if (written) return { lane: isSoon || kept.length > 0 ? 'further' : 'interactive' };
      }
      return (await laneOf(jobId)) ?? 'too many';
    },
  };
}

/** A person's requests in the table. */
type TurnsItem = ReturnType<typeof readTurnsItem>;
type NotedJob = TurnsItem['noted'][number];

const id = z.string().check(z.minLength(1));
/** Jobs, and when they were recorded; epoch milliseconds. */
const noted = z.array(z.object({ id, at: storedTime }));
/** The ids of the last jobs, whether ended or not, newest last. */
const asked = z.array(id);
/** Counts the writes, so that each write is conditional on the state that was read. */
const version = z.int().check(z.gte(0));

/** Reads any item. An unreadable value counts as missing, so that it never stops a person, who could not repair it. */
function readTurnsItem(item: Item | undefined) {
  return {
    noted: noted.safeParse(item?.noted).data ?? [],
    asked: asked.safeParse(item?.asked).data ?? [],
    /** When the last job was recorded. */
    lastAt: storedTime.safeParse(item?.lastAt).data ?? 0,
    version: version.safeParse(item?.version).data ?? 0,
  };
}
