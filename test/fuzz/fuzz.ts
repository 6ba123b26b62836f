import fc from 'fast-check';
import { stopTimers } from '../hosts.ts';
import { type Action, histories } from './history.ts';
import { play } from './play.ts';

/** A history that breaks a promise, as lines, reduced to the actions that break it, and what happens in it. */
export interface Finding {
  seed: number;
  history: readonly Action[];
  broken: readonly string[];
  course: readonly string[];
}

/**
 * Plays random histories.
 * @param endOnFailure does not shorten the found history
 * @returns the first that breaks a promise; undefined if none does
 */
export async function fuzz(runs: number, seed: number, endOnFailure = false): Promise<Finding | undefined> {
  const goOn = stopTimers();
  try {
    const isKept = fc.asyncProperty(histories, async (history) => (await play(history)).length === 0);
    const { counterexample } = await fc.check(isKept, { numRuns: runs, seed, endOnFailure });
    return counterexample ? await follow(counterexample[0], seed) : undefined;
  } finally {
    goOn();
  }
}

/** Plays these histories unchanged. @returns those that break a promise */
export async function playAll(all: Iterable<readonly Action[]>): Promise<Finding[]> {
  const goOn = stopTimers();
  const findings: Finding[] = [];
  try {
    for (const history of all) if ((await play(history)).length > 0) findings.push(await follow(history, 0));
    return findings;
  } finally {
    goOn();
  }
}

async function follow(history: readonly Action[], seed: number): Promise<Finding> {
  const course: string[] = [];
  const broken = await play(history, (line) => course.push(line));
  return { seed, history, broken, course };
}

export function inWords({ seed, history, broken, course }: Finding): string {
  const lines = history.map((action) => JSON.stringify(action));
  return [`Seed ${seed}`, ...lines, '', ...broken, '', ...course].join('\n');
}
