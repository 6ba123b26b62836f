import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutationsOf } from './mutations.ts';

const FOLDERS = ['cli', 'console', 'functions', 'infra', 'lib', 'local'];

/**
 * The lines that can hold a mistake, and the mistakes of each, in an order that depends on the seed. A change in one
 * file leaves the order of the others as it was.
 *
 * @param places folders or files, relative to `root`; none means all that is deployed or run
 */
export function shuffledLines(root: string, places: readonly string[], seed: string): readonly (readonly Mutant[])[] {
  const patterns = (places.length > 0 ? places : FOLDERS).flatMap((place) => [place, `${place}/**`]);
  const files = globSync(patterns, { cwd: root }).filter((file) => /(?<!\.d)\.tsx?$/.test(file));
  const mutants = [...new Set(files)].flatMap((path) => mutationsOf(path, readFileSync(join(root, path), 'utf8')));
  const lines = Object.groupBy(mutants, ({ path, line }) => `${path}:${line}`);
  return shuffled(Object.values(lines), seed).map((ofLine = []) => shuffled(ofLine, seed));
}

function shuffled<T>(list: readonly T[], seed: string): readonly T[] {
  const rankOf = (each: T) => hash('sha256', JSON.stringify([seed, each]));
  const ranked = list.map((each) => ({ each, rank: rankOf(each) }));
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ each }) => each);
}
