import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';
import type { KnownName } from './known-names.ts';

export type KnownProject = KnownName;

/** A cache of a connection's projects, for a modal that cannot wait for the service. */
export type KnownProjects = ReturnType<typeof createKnownProjects>;

/** An item holds 400 KB. A list in a modal holds 10,000 options, far more than a person reads. */
const MAX_PROJECTS = 2_000;
const MAX_NAME_LENGTH = 75;

export function createKnownProjects(table: Table, clock: () => number) {
  return {
    /** @returns the projects and when they were read, in epoch milliseconds; undefined if they never were */
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
