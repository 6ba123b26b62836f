import type { Job } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import type { Person } from '../../people/people.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { ifReadable } from '../../state/table/unreadable-item.ts';

/** The jobs that a person requested, so that they can see their status. */
export interface JobsOfPerson {
  /** Records a job, whether or not it is stored yet. Recording the same job twice is harmless. */
  note(person: Person, jobId: string): Promise<void>;
  /** The newest first. */
  last(person: Person, limit: number): Promise<Job[]>;
}

export function createJobsOfPerson(table: Table, jobs: JobStore, clock: () => number): JobsOfPerson {
  return {
    async note(person, jobId) {
      const now = clock();
      const key = keys.jobOfPerson(person.in, person.id, new Date(now).toISOString(), jobId);
      await table.put({ ...key, jobId, expiresAt: expiry(now) });
    },
    async last(person, limit) {
      const { pk } = keys.jobOfPerson(person.in, person.id, '', '');
      const noted = await table.lastOf(pk, limit);
      const found = await Promise.all(noted.map(({ jobId }) => ifReadable(jobs.get(String(jobId)))));
      // The event may have been recorded twice, or never stored.
      return [...new Map(found.filter((job) => job !== undefined).map((job) => [job.id, job])).values()];
    },
  };
}
