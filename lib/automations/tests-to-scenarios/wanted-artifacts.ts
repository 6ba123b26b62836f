import { type Artifact, MOST_LISTED } from '../../platforms/github/runs/artifacts.ts';
import { isLike } from '../../text.ts';

const MOST_ARTIFACTS = 20;
export const MOST_MEGABYTES = 32;
const MOST_MEGABYTES_IN_ALL = 128;
export const MEGABYTE = 1024 * 1024;

/** An artifact that is not used, and the reason. The reason contains no text from outside. */
export interface Unread {
  name: string;
  why: string;
}

/**
 * Splits a run's artifacts into those to read and those to leave out. Reads the newest artifact of each name; it may be
 * from an earlier attempt, if the newest attempt did not run its job again.
 *
 * @param all the newest first
 * @param patterns match the names
 */
export function wantedArtifacts(all: readonly Artifact[], patterns: readonly string[]) {
  const named = all.filter(({ name }) => patterns.some((pattern) => isLike(name, pattern)));
  const [wanted, unread]: [Artifact[], Unread[]] = [[], []];
  let bytesInAll = 0;
  for (const artifact of new Map(named.toReversed().map((one) => [one.name, one])).values()) {
    const why = whyNot(artifact, wanted.length, bytesInAll + artifact.bytes);
    if (why !== undefined) unread.push({ name: artifact.name, why });
    else {
      wanted.push(artifact);
      bytesInAll += artifact.bytes;
    }
  }
  if (all.length >= MOST_LISTED)
    unread.push({ name: patterns.join(', '), why: `the run has ${MOST_LISTED} artifacts or more` });
  return { wanted, unread };
}

function whyNot({ bytes }: Artifact, before: number, bytesInAll: number): string | undefined {
  if (before === MOST_ARTIFACTS) return `a run takes ${MOST_ARTIFACTS} artifacts`;
  if (bytes > MOST_MEGABYTES * MEGABYTE) return TOO_LARGE;
  const most = MOST_MEGABYTES_IN_ALL;
  return bytesInAll > most * MEGABYTE ? `the artifacts of the run have more than ${most} MB` : undefined;
}

export const TOO_LARGE = `it was deleted, or has more than ${MOST_MEGABYTES} MB`;
