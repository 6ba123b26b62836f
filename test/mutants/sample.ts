import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutant, mutationsOf } from './mutations.ts';

const FOLDERS = ['cli', 'console', 'functions', 'infra', 'lib', 'local'];

/**
 * The lines that can contain a mistake, with the mistakes of each, in an order that depends on the seed. A change in
 * one file does not affect the order of the others.
 *
 * @param places folders or files, relative to `root`; an empty list means everything that is deployed or run
 */
export function shuffledLines(root: string, places: readonly string[], seed: string): readonly (readonly Mutant[])[] {
  const patterns = (places.length > 0 ? places : FOLDERS).flatMap((place) => [place, `${place}/**`]);
  const files = globSync(patterns, { cwd: root }).filter((file) => /(?<!\.d)\.tsx?$/.test(file));
  const mutants = [...new Set(files)].flatMap((path) => mutationsOf(path, readFileSync(join(root, path), 'utf8')));
  const lines = Object.groupBy(mutants, ({ path, line }) => `${path}:${line}`);
  return shuffled(Object.values(lines), seed).map((ofLine = []) => shuffled(ofLine, seed));
}

/**
 * The first mistake of each line that nothing refuses. Lines that have none are left out.
 *
 * @param refusedOf those of some mistakes that are refused; at most one of each file is asked about at a time
 */
export async function firstThatAreTaken(
  lines: readonly (readonly Mutant[])[],
  refusedOf: (mutants: readonly Mutant[]) => Promise<readonly Mutant[]>,
): Promise<readonly Mutant[]> {
  const left = lines.map((ofLine) => [...ofLine]);
  const taken = new Map<Mutant[], Mutant>();
  for (;;) {
    const open = left.filter((ofLine) => !taken.has(ofLine) && ofLine.length > 0);
    if (open.length === 0) return left.flatMap((ofLine) => taken.get(ofLine) ?? []);
    const round = new Map(open.flatMap((ofLine) => (ofLine[0] ? [[ofLine[0].path, ofLine]] : [])));
    const refused = await refusedOf([...round.values()].flatMap(([first]) => first ?? []));
    for (const ofLine of round.values()) {
      const first = ofLine.shift();
      if (first && !refused.includes(first)) taken.set(ofLine, first);
    }
  }
}

function shuffled<T>(list: readonly T[], seed: string): readonly T[] {
  const rankOf = (each: T) => hash('sha256', JSON.stringify([seed, each]));
  const ranked = list.map((each) => ({ each, rank: rankOf(each) }));
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ each }) => each);
}
