import type { Lane } from '../budget/lanes.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Person } from './people.ts';

/** So many jobs of one person may be under way or wait; what is asked for beyond that is refused. */
export const MOST_UNDER_WAY = 10;

/** What a person reads whose command is not taken. */
export const TOO_MANY = `${MOST_UNDER_WAY} things that you asked for are not done yet. Please wait for one of them, then try again.`;

/** How people share the budget: docs/decisions/0019-people-take-turns.md. */
export interface Turns {
  /**
   * Notes a job that somebody asks for, before it is stored; the same job again takes no second place.
   * @returns the lane that the job belongs to, or undefined if too many jobs of the person have not ended
   */
  take(person: Person, jobId: string): Promise<Lane | undefined>;
}

/** What somebody asks for within this time after something else is no first command. */
const FURTHER_WITHIN_MS = 60_000;
/** A job that is not stored by then will not be: its webhook died. */
const STORED_WITHIN_MS = 10_000;
/** Whoever has so many commands read at the same moment does not type them. */
const CONTENDED_TRIES = 8;
/** Longer than anything waits as a rule; without the note, a person has ten places more. */
const KEPT_MS = 7 * 86_400_000;

interface Noted {
  id: string;
  at: number;
}

export function createTurns(table: Table, jobs: JobStore, clock: () => number): Turns {
  async function isUnderWay({ id, at }: Noted): Promise<boolean> {
    const job = await jobs.get(id);
    if (!job) return at + STORED_WITHIN_MS > clock();
    return job.status !== 'succeeded' && job.status !== 'parked';
  }

  async function underWay(noted: readonly Noted[]): Promise<Noted[]> {
    const are = await Promise.all(noted.map(isUnderWay));
    return noted.filter((_, index) => are[index]);
  }

  return {
    async take(person, jobId) {
      const key = keys.turns(person.in, person.id);
      for (let tries = 0; tries < CONTENDED_TRIES; tries++) {
        // The next write is conditional on the version, also of an expired note.
        const item = await table.getEvenExpired(key);
        const { noted = [], lastAt = 0, version = 0 } = (item ?? {}) as Partial<Turn>;
        const now = clock();
        const others = noted.filter(({ id }) => id !== jobId);
        const isSoon = lastAt + FURTHER_WITHIN_MS > now;
        // Ended jobs are looked for only if they matter, so that no job has to take back its note.
        const kept = isSoon && others.length < MOST_UNDER_WAY ? others : await underWay(others);
        if (kept.length >= MOST_UNDER_WAY) return undefined;
        const turn: Turn = { noted: [...kept, { id: jobId, at: now }], lastAt: now, version: version + 1 };
        const written = await table.put(
          { ...key, ...turn, expiresAt: expiry(now, KEPT_MS) },
          { expression: 'attribute_not_exists(#pk) OR #version = :version', values: { version } },
        );
        if (written) return isSoon || kept.length > 0 ? 'further' : 'interactive';
      }
      return undefined;
    },
  };
}

interface Turn {
  noted: Noted[];
  /** When the last job was noted. */
  lastAt: number;
  version: number;
}
