import type { TestsConfig } from '../../config/tests.ts';
import type { Artifact } from '../../platforms/github/runs/artifacts.ts';
import { emptyRoom, ReportFault, unfold } from './archive.ts';
import { createJunitReader } from './junit.ts';
import { createTally, type Results } from './tally.ts';

const MOST_MEGABYTES = 32;

/** The results of a run, the artifacts that were read, and those that were not. */
export interface RunResults extends Results {
  read: string[];
  unread: { name: string; why: string }[];
}

/** Reads the artifacts of a run, one after the other. @param fetch as in {@link Artifacts} */
export async function readRun(
  artifacts: readonly Artifact[],
  ids: TestsConfig['ids'],
  fetch: (id: number, most: number) => Promise<Buffer | undefined>,
): Promise<RunResults> {
  const tally = createTally(ids);
  const room = emptyRoom();
  const read: string[] = [];
  const unread: RunResults['unread'] = [];
  for (const { id, name, bytes } of artifacts) {
    try {
      const most = MOST_MEGABYTES * 1024 * 1024;
      const archive = bytes > most ? undefined : await fetch(id, most);
      if (!archive) throw new ReportFault(`it was deleted, or has more than ${MOST_MEGABYTES} MB`);
      await unfold(archive, room, () => createJunitReader(tally.add));
      read.push(name);
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      unread.push({ name, why: error.message });
    }
  }
  return { ...tally.results(), read, unread };
}
