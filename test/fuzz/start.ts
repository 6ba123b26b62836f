import { readFileSync } from 'node:fs';
import { fuzz, inWords, playAll } from './fuzz.ts';
import type { Action } from './history.ts';

/**
 * `node test/fuzz/start.ts <runs> <seed> [--as-found]` plays random histories. `node test/fuzz/start.ts <file>` plays
 * the history in the file: on each line an action as JSON, in the printed form. Other lines are ignored.
 */
const [first = '1000', seed = String(Date.now() % 1e9), asFound] = process.argv.slice(2);
const isFile = Number.isNaN(Number(first));
const startedAt = Date.now();
const finding = isFile
  ? (await playAll([historyIn(first)]))[0]
  : await fuzz(Number(first), Number(seed), asFound === '--as-found');
const seconds = Math.round((Date.now() - startedAt) / 1000);
const what = isFile ? `The history of ${first}` : `${first} histories with the seed ${seed} in ${seconds} s`;
console.log(finding ? inWords(finding) : `${what}: every promise was kept.`);
if (finding) process.exitCode = 1;

function historyIn(file: string): Action[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => /^\{.*\},?$/.test(line)).map((line) => JSON.parse(line.replace(/,$/, '')));
}
