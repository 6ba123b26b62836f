import type { TestsConfig } from '../../config/tests.ts';
import { type Artifact, TooLarge } from '../../platforms/github/runs/artifacts.ts';
import { emptyRoom, unfold } from './archive.ts';
import { createJunitReader } from './junit.ts';
import { ReportFault } from './report-fault.ts';
import { createTally, type Results } from './tally.ts';

const MOST_ARCHIVE_BYTES = 32 * 1024 * 1024;

/** The results of a run, and what is missing of them. */
export interface RunResults extends Results {
  /** The names of the artifacts that were read. */
  read: string[];
  /** Those that were not, and why. */
  unread: { name: string; why: string }[];
}

/** Reads the artifacts of a run, one after the other. @param fetch returns undefined for one that is gone */
export async function readRun(
  artifacts: readonly Artifact[],
  ids: TestsConfig['ids'],
  fetch: (id: number, mostBytes: number) => Promise<Uint8Array | undefined>,
): Promise<RunResults> {
  const tally = createTally(ids);
  const room = emptyRoom();
  const read: string[] = [];
  const unread: RunResults['unread'] = [];
  for (const { id, name, bytes } of artifacts) {
    try {
      if (bytes > MOST_ARCHIVE_BYTES) throw new TooLarge();
      const archive = await fetch(id, MOST_ARCHIVE_BYTES);
      if (!archive) throw new ReportFault('it has expired or was deleted');
      await unfold(archive, room, () => createJunitReader(tally.add));
      read.push(name);
    } catch (error) {
      if (!(error instanceof ReportFault || error instanceof TooLarge)) throw error;
      const tooLarge = `it has more than ${MOST_ARCHIVE_BYTES / 1024 / 1024} MB`;
      unread.push({ name, why: error instanceof TooLarge ? tooLarge : error.message });
    }
  }
  return { ...tally.results(), read, unread };
}
