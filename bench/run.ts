import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareBudgets } from './budget.ts';
import { measureEventToDefect } from './event-to-defect.ts';
import { compareFaults } from './faults.ts';
import { type Findings, table } from './figures.ts';
import { measureGithubWebhook } from './github-webhook.ts';
import { measureLinkedAccounts } from './linked-accounts.ts';
import { measureCallsPerMinute, measureOneMachine } from './one-machine.ts';
import { measureSigning } from './signing.ts';
import { measureSlackWebhook } from './slack-webhook.ts';
import { measureToolCalls } from './tool-calls.ts';
import { measureVerifying } from './verifying.ts';

const processor = cpus()[0]?.model.trim() ?? 'unknown';
console.log(
  `${availableParallelism()} cores of ${processor}, Node ${process.version}, ${process.platform} ${process.arch}\n`,
);

const folder = mkdtempSync(join(tmpdir(), 'partner-relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

const parts: Readonly<Record<string, () => Findings | Promise<Findings>>> = {
  signing: measureSigning,
  verifying: measureVerifying,
  'github-webhook': () => measureGithubWebhook(folder),
  'slack-webhook': () => measureSlackWebhook(folder),
  'event-to-defect': () => measureEventToDefect(folder),
  'linked-accounts': () => measureLinkedAccounts(folder),
  'tool-calls': () => measureToolCalls(folder),
  'one-machine': () => measureOneMachine(join(folder, 'one-machine')),
  'calls-per-minute': () => measureCallsPerMinute(join(folder, 'calls-per-minute')),
  budgets: compareBudgets,
  faults: () => compareFaults(join(folder, 'faults')),
};
const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !Object.hasOwn(parts, name));
if (unknown) {
  console.error(`There is no part ${unknown}. The parts are ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}
const found: Findings[] = [];
// One after another, because parallel work would distort a measurement.
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  try {
    found.push(await part());
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
console.log(`${table(found.flatMap(({ figures }) => figures))}\n`);
for (const note of found.flatMap(({ notes }) => notes)) console.log(note);
