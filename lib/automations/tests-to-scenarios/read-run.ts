import type { TestsConfig } from '../../config/tests.ts';
import type { Artifact } from '../../platforms/github/runs/artifacts.ts';
import { emptyRoom, ReportFault, unfold } from './archive.ts';
import { createJunitReader } from './junit.ts';
import { createTally, type Results } from './tally.ts';

const MOST_MEGABYTES = 32;
const MOST_MEGABYTES_IN_ALL = 128;
const MOST_TESTS = 100_000;
/** How many are fetched at a time, because a run of the worker is short. */
const AT_A_TIME = 10;

/** The results of a run, the artifacts that were read, and those that were not. */
export interface RunResults extends Results {
  read: string[];
  unread: { name: string; why: string }[];
}

/**
 * Reads the artifacts of a run.
 * @param fetch as in {@link Artifacts}
 * @param isTimeOver whether what is left has to be left out
 */
export async function readRun(
  artifacts: readonly Artifact[],
  ids: TestsConfig['ids'],
  fetch: (id: number, most: number) => Promise<Buffer | undefined>,
  isTimeOver: () => boolean,
): Promise<RunResults> {
  const tally = createTally(ids);
  const room = emptyRoom();
  const read: string[] = [];
  const unread: RunResults['unread'] = [];
  let [bytesInAll, tests] = [0, 0];

  for (let from = 0; from < artifacts.length; from += AT_A_TIME) {
    const some = artifacts
      .slice(from, from + AT_A_TIME)
      .map((artifact) => ({ artifact, why: whyNotFetched(artifact) }));
    const archives = await Promise.all(
      some.map(({ artifact, why }) => (why ? undefined : fetch(artifact.id, megabytes(MOST_MEGABYTES)))),
    );
    for (const [index, { artifact, why }] of some.entries()) {
      try {
        const archive = archives[index];
        if (!archive) throw new ReportFault(why ?? TOO_LARGE);
        await unfold(archive, room, openReport);
        read.push(artifact.name);
      } catch (error) {
        if (!(error instanceof ReportFault)) throw error;
        unread.push({ name: artifact.name, why: error.message });
      }
    }
  }
  return { ...tally.results(), read, unread };

  function whyNotFetched({ bytes }: Artifact): string | undefined {
    if (isTimeOver()) return NO_TIME;
    if (bytes > megabytes(MOST_MEGABYTES)) return TOO_LARGE;
    if (bytesInAll + bytes > megabytes(MOST_MEGABYTES_IN_ALL))
      return `the artifacts of the run have more than ${MOST_MEGABYTES_IN_ALL} MB`;
    bytesInAll += bytes;
    return undefined;
  }

  function openReport() {
    const reader = createJunitReader((test) => {
      if (++tests > MOST_TESTS) throw new ReportFault(`the run has more than ${MOST_TESTS} tests`);
      tally.add(test);
    });
    return {
      ...reader,
      write(piece: Uint8Array) {
        if (isTimeOver()) throw new ReportFault(NO_TIME);
        reader.write(piece);
      },
    };
  }
}

const megabytes = (count: number) => count * 1024 * 1024;
const TOO_LARGE = `it was deleted, or has more than ${MOST_MEGABYTES} MB`;
const NO_TIME = 'there was no time left to read it';
