import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';
import type { KnownName } from './known-names.ts';

export type KnownProject = KnownName;

/** A connection's projects, stored for modals that cannot wait for the service. */
export type KnownProjects = ReturnType<typeof createKnownProjects>;

/** Limits the item, which holds 400 KB. A modal's list could have 10,000 options, far more than a person reads. */
const MAX_PROJECTS = 2_000;
const MAX_NAME_LENGTH = 75;

export function createKnownProjects(table: Table, clock: () => number) {
  return {
    /** @returns the projects, and when they were read (epoch milliseconds); undefined if they were never read */
    async get(connection: string): Promise<{ projects: KnownProject[]; seenAt: number } | undefined> {
      const item = await table.get(keys.projects(connection));
      return item && { projects: item.projects as KnownProject[], seenAt: Number(item.seenAt) };
    },
    async set(connection: string, projects: readonly KnownProject[]): Promise<void> {
      const kept = projects
        .slice(0, MAX_PROJECTS)
        .map(({ id, name }) => ({ id, name: cutToLength(name, MAX_NAME_LENGTH) }));
      await table.put({ ...keys.projects(connection), projects: kept, seenAt: clock() });
    },
  };
}
