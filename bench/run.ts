import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareBudgets } from './budget.ts';
import { measureEventToDefect } from './event-to-defect.ts';
import { type Findings, table } from './figures.ts';
import { measureGithubWebhook } from './github-webhook.ts';
import { measureCallsPerMinute, measureOneMachine } from './one-machine.ts';
import { measureSigning } from './signing.ts';
import { measureSlackWebhook } from './slack-webhook.ts';
import { measureVerifying } from './verifying.ts';

const processor = cpus()[0]?.model.trim() ?? 'unknown';
console.log(
  `${availableParallelism()} cores of ${processor}, Node ${process.version}, ${process.platform} ${process.arch}\n`,
);

const folder = mkdtempSync(join(tmpdir(), 'partner-relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

// One after another, because parallel work would distort a measurement.
const parts: (() => Findings | Promise<Findings>)[] = [
  measureSigning,
  measureVerifying,
  () => measureGithubWebhook(folder),
  () => measureSlackWebhook(folder),
  () => measureEventToDefect(folder),
  () => measureOneMachine(join(folder, 'one-machine')),
  () => measureCallsPerMinute(join(folder, 'calls-per-minute')),
  compareBudgets,
];
const found: Findings[] = [];
for (const part of parts) {
  try {
    found.push(await part());
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
console.log(`${table(found.flatMap(({ figures }) => figures))}\n`);
for (const note of found.flatMap(({ notes }) => notes)) console.log(note);
