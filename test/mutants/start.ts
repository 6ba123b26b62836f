import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutant } from './mutations.ts';
import { firstThatAreTaken, shuffledLines } from './sample.ts';
import { copyToScratch } from './scratch-copy.ts';
import { createTrial } from './trial.ts';
import { whoRuns } from './who-runs.ts';

/** `npm run mutants -- [--seed N] [--count N] [--workers N] [folder or file…]`; see CONTRIBUTING.md. */
const { values, positionals: places } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    count: { type: 'string', default: '60' },
    workers: { type: 'string', default: '2' },
  },
});
process.once('SIGINT', () => process.exit(130));

const root = copyToScratch(join(import.meta.dirname, '../..'));
console.log('One run of the tests shows which of them run which lines.');
const testsOf = await whoRuns(root, values.workers);
const trial = createTrial(root, values.workers);
const survivors: Mutant[] = [];
let tried = 0;
for await (const mutant of drawn(Number(values.count))) {
  tried++;
  const { tests, others } = testsOf(mutant);
  const test = await trial.noticedBy(mutant, tests);
  if (!test) survivors.push(mutant);
  console.log(`${tried}. ${test ? 'noticed' : 'SURVIVED'}: ${inWords(mutant)}`);
  const near = others === 0 ? '' : `, the nearest of ${tests.length + others}`;
  const noTest = tests.length > 0 ? `by none of ${tests.length} test files${near}` : 'no test runs this line';
  console.log(`   ${test ? `by ${test}` : noTest}`);
}

const noticed = tried - survivors.length;
console.log(`\n${noticed} of ${tried} noticed (${Math.round((100 * noticed) / tried)} %), seed ${values.seed}`);
if (trial.unfit().length > 0) console.log(`Not used, as they fail anyway: ${trial.unfit().join(', ')}`);
for (const mutant of survivors) console.log(inWords(mutant));
process.exit(0);

/** Mistakes that neither the types nor the linter refuse: the requested number, or all. */
async function* drawn(count: number): AsyncGenerator<Mutant> {
  const lines = shuffledLines(root, places, values.seed);
  let found = 0;
  for (let from = 0, to = 0; found < count && to < lines.length; from = to) {
    to = from + count - found;
    const taken = await firstThatAreTaken(lines.slice(from, to), trial.refusedOf);
    found += taken.length;
    yield* taken;
  }
}

function inWords({ path, line, words }: Mutant): string {
  const source = readFileSync(join(root, path), 'utf8').split('\n')[line - 1];
  return `${path}:${line}: ${words}: ${source?.trim()}`;
}
