import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyToScratch, failureOf } from '../mutants/scratch-copy.ts';
import { RUNS, SEED } from './fuzz-runs.ts';

const scratch = copyToScratch(join(import.meta.dirname, '../..'));

/** Lines that the promises depend on: each with a mistake, and how the mistake shows. */
const mistakes = {
  'a slot is given back twice': [
    'lib/service/budget/gate.ts',
    "if (how === 'never left') slot.giveUp();",
    "if (how === 'never left') [slot, slot].forEach((one) => one.giveUp());",
    /the budget counts \d+ of the \d+ calls/,
  ],
  'a creation is decided again at once': [
    'lib/engine/operate/resolve.ts',
    'verifyIsOver(job, open, clock());',
    '',
    /again of \S+ is not offered, and accepted/,
  ],
  'a job is claimed whatever its lease says': [
    'lib/engine/record/job-store.ts',
    'if (job.lease && isLeased) return',
    'if (job.lease && isLeased && !until) return',
    /was taken over before its lease ended/,
  ],
  'a newer request is overlooked': [
    'lib/engine/run/newest-wins.ts',
    'return begun !== undefined;',
    'return begun !== null;',
    /item \d+ is not as .* asked for/,
  ],
  'a run ends its job although another worker holds the lease': [
    'lib/engine/record/job-store.ts',
    'setFields(fields, over), condition)',
    'setFields(fields, over))',
    /was over and is \w+ again|was taken over before its lease ended/,
  ],
  'the same bytes are sent for ever': [
    'lib/engine/run/creations.ts',
    'now >= signedAt + RESEND_WINDOW_MS',
    'signedAt > now',
    /is sent \d+ s after it was signed/,
  ],
} as const;

it.each(Object.entries(mistakes))('random histories notice that %s', async (_, [file, right, wrong, shown]) => {
  const path = join(scratch, file);
  const source = readFileSync(path, 'utf8');
  expect(source).toContain(right);
  writeFileSync(path, source.replace(right, wrong));
  const printed = await failureOf(scratch, 'node', 'test/fuzz/start.ts', String(RUNS), String(SEED), '--as-found');
  writeFileSync(path, source);
  expect(printed).toMatch(shown);
});
