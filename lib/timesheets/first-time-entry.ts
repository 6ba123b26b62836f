import { digest } from '../digest.ts';
import { NeedsOperator, RetryAt } from '../engine/record/interruption.ts';
import { hasEnded, type Job } from '../engine/record/job.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Runtime, Stores } from '../runtime.ts';
import { createTimelog, timelogDetail } from '../service/partner/operations/timelogs.ts';
import { keys } from '../state/table/keys.ts';
import { unchangedSince } from '../state/table/unreadable-item.ts';
import { ROUNDED_MINUTES, readEntry } from './time-entry.ts';

interface SentEntry {
  id: string | number;
  user_id: string | number;
  date: string;
  hours: number;
}

interface Verification {
  /** The job that creates the first entry. */
  claimedBy: string;
  verified?: boolean;
  /** The entry's id, until the entry is read back. */
  unread?: string | number;
  /** The fault of the entry, if any. */
  wrong?: string;
}

/** The pause while another job creates the first entry. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Verifies the first time entry of a connection, because the fields of time entries are assumed. It is read back. If
 * its person, day or hours differ from what was sent, no more time is logged on that connection.
 */
export function createFirstTimeEntries({
  config,
  table,
  jobs,
  clock,
}: Pick<Runtime, 'config'> & Pick<Stores, 'table' | 'jobs' | 'clock'>) {
  /** The key depends on the overrides, so that the next entry is read back after a correction. */
  const keyOf = (connection: string) => {
    const { operations = {} } = config.connections[connection] ?? {};
    return keys.firstTimeEntry(connection, digest([operations[createTimelog.name], operations[timelogDetail.name]]));
  };

  /** Returns true if the job that claimed the first entry will never verify it. */
  async function isOver(jobId: string): Promise<boolean> {
    const job = await jobs.get(jobId);
    return !job || hasEnded(job);
  }

  const beingChecked = () =>
    new RetryAt(clock() + LOOK_AGAIN_MS, 'the first time entry on this connection is being checked', {
      releasesQueueGroup: true,
      waitsFor: 'job',
    });

  return {
    /**
     * @returns true if the job creates the connection's first entry and must verify it
     * @throws {RetryAt} while another job creates the first entry
     * @throws {NeedsOperator} if the first entry was wrong
     */
    async claim(job: Job): Promise<boolean> {
      const key = keyOf(job.connection);
      const known = (await table.get(key)) as Verification | undefined;
      if (known?.verified) return false;
      if (known?.wrong) throw new NeedsOperator(known.wrong);
      if (known?.claimedBy === job.id) return true;
      if (known && !(await isOver(known.claimedBy))) throw beingChecked();
      if (known?.unread !== undefined) {
        throw new NeedsOperator(
          `Time is not logged on the connection ${job.connection} before its first entry, ${known.unread}, is read back by a replay of ${known.claimedBy}`,
        );
      }
      if (await table.put({ ...key, claimedBy: job.id }, unchangedSince('claimedBy', known?.claimedBy))) return true;
      throw beingChecked();
    },
    /** Reads the entry back. @throws {NeedsOperator} if it differs from what was sent */
    async verify(job: Job, steps: Pick<JobSteps, 'call'>, sent: SentEntry): Promise<void> {
      const key = keyOf(job.connection);
      // A stalled worker must not overwrite a later result, because the entry would not be read again.
      const undecided = {
        expression: '#claimedBy = :jobId AND attribute_not_exists(#verified) AND attribute_not_exists(#wrong)',
        values: { jobId: job.id },
      };
      if (!(await table.put({ ...key, claimedBy: job.id, unread: sent.id }, undecided))) {
        const known = (await table.get(key)) as Verification | undefined;
        if (known?.wrong) throw new NeedsOperator(known.wrong);
        return;
      }
      // The step's name depends on the overrides, so that a replayed job reads the entry again after a correction.
      const wrong = await steps.call(
        `read it back ${key.sk.slice(0, 8)}`,
        timelogDetail,
        { timelog_id: sent.id },
        (entry) => differences(sent, entry),
        (refused) => {
          // The key lacks a scope, so the refusal says nothing about the entry.
          if (refused.refusal.status === 403) throw refused;
          return [`nothing to read (${refused.message})`];
        },
      );
      if (wrong.length === 0) {
        await table.put({ ...key, claimedBy: job.id, verified: true });
        return;
      }
      const overrides = [createTimelog, timelogDetail].map(
        ({ name }) => `connections.${job.connection}.operations['${name}'].fields`,
      );
      const reason = `Logging time on the connection ${job.connection} is stopped: its first entry, ${sent.id}, came back with ${wrong.join(', ')}. Check that entry, and set the instance's field names under ${overrides.join(' and ')} in relay.config.ts`;
      await table.put({ ...key, claimedBy: job.id, wrong: reason });
      throw new NeedsOperator(reason);
    },
  };
}

/**
 * Returns true if the service kept the duration, except for rounding. The difference may not exceed a quarter: a
 * service that reads hours as minutes keeps a sixtieth, and a service with another field name keeps 0.
 */
function isKept(minutes: number, sent: number): boolean {
  return Math.abs(minutes - sent) <= Math.min(ROUNDED_MINUTES, sent / 4);
}

/**
 * Returns the fields of the entry that differ from what was sent. Only their names, because the rest of the entry is
 * private.
 */
function differences(sent: SentEntry, record: Readonly<Record<string, unknown>>): string[] {
  const entry = readEntry(record);
  if ('unreadable' in entry) return [`an unreadable ${entry.unreadable}`];
  const same = {
    user_id: entry.userId === String(sent.user_id),
    date: entry.date === sent.date,
    hours: isKept(entry.minutes, sent.hours * 60),
  };
  return Object.entries(same).flatMap(([field, holds]) => (holds ? [] : [`a different ${field}`]));
}
