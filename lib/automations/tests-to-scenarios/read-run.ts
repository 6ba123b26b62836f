import type { TestsConfig } from '../../config/tests.ts';
import type { Artifact } from '../../platforms/github/runs/artifacts.ts';
import { NoTime, ReportFault, unfold } from './archive.ts';
import { createJunitReader, MOST_TESTS, type Test } from './junit.ts';
import { createTally, type Results } from './tally.ts';
import { MEGABYTE, MOST_MEGABYTES, TOO_LARGE, type Unread } from './wanted-artifacts.ts';

/** How many artifacts to download at a time. A worker's run is short, so they are downloaded in parallel. */
const AT_A_TIME = 10;
/**
 * An artifact that is not read after this time is too large for any run of the job, because downloads may take most of
 * a run.
 */
const LONGEST_READ_MS = 10_000;

/** The results of a workflow run so far, and the artifacts that were read or left unread. */
export interface RunResults extends Results {
  read: string[];
  unread: Unread[];
  /** How many bytes the archives have unpacked. */
  unpacked: number;
}

/**
 * Reads the artifacts that were not read before, as many as there is time for.
 *
 * @param before the results of earlier runs of the job
 * @param fetch see `Artifacts` in lib/platforms/github/runs/artifacts.ts
 * @param time whether this run of the job may download, and whether it has to end
 * @param hasFailed whether the workflow run failed
 */
export async function readRun(
  artifacts: readonly Artifact[],
  before: RunResults | undefined,
  ids: TestsConfig['ids'],
  fetch: (id: number, most: number) => Promise<Buffer | undefined>,
  time: { clock(): number; mayFetch(): boolean; isOver(): boolean },
  hasFailed: boolean,
): Promise<RunResults> {
  let results: RunResults = before ?? { ...createTally(ids).results(), read: [], unread: [], unpacked: 0 };
  const readBefore = results.read.length + results.unread.length;

  for (let from = readBefore; from < artifacts.length && time.mayFetch(); from += AT_A_TIME) {
    const some = artifacts.slice(from, from + AT_A_TIME);
    const archives = await Promise.all(some.map(({ id }) => fetch(id, MOST_MEGABYTES * MEGABYTE)));
    for (const [index, artifact] of some.entries()) {
      const begunAt = time.clock();
      try {
        results = await withArchive(results, artifact.name, archives[index]);
      } catch (error) {
        if (!(error instanceof NoTime)) throw error;
        if (time.clock() < begunAt + LONGEST_READ_MS) return results;
        const why = 'it takes too long to read';
        return { ...results, unread: [...results.unread, { name: artifact.name, why }] };
      }
    }
  }
  return results;

  /** Adds the results of one archive. If the time ends before it is read, none of its results count. */
  async function withArchive(before: RunResults, name: string, archive: Buffer | undefined): Promise<RunResults> {
    const tally = createTally(ids, before);
    const unpacked = { bytes: before.unpacked };
    function found(test: Test): void {
      if (tally.count() === MOST_TESTS) throw new ReportFault(`the run has more than ${MOST_TESTS} tests`);
      tally.add(test);
    }
    const so = () => ({ ...tally.results(), unpacked: unpacked.bytes });
    try {
      if (!archive) throw new ReportFault(TOO_LARGE);
      let files = 0;
      const openReport = (file: string) => {
        files++;
        const ignored = (why: string) => tally.noteFile('ignored', `${file}: ${why}, ignored`);
        return createJunitReader(found, ignored, hasFailed);
      };
      const broken = (file: string, why: string) => tally.noteFile('broken', `${name}: ${file}: ${why}`);
      await unfold(archive, unpacked, time.isOver, openReport, broken);
      if (files === 0) tally.noteFile('ignored', `${name}: no XML file`);
      return { ...so(), unread: before.unread, read: [...before.read, name] };
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      return { ...so(), read: before.read, unread: [...before.unread, { name, why: error.message }] };
    }
  }
}
