import { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Notes in a file which lines each test file runs, such as `lib/links/links.ts:62`, also in processes that the test
 * starts.
 */
const root = join(import.meta.dirname, '../..');
const { MUTANTS_RECORDS = '', MUTANTS_RECORD: record = join(MUTANTS_RECORDS, randomUUID()) } = process.env;

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const noted = new Set<string>();

/** Notes lines that have run for the first time. @param words further text */
export function note(words = ''): void {
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    const ours = result.filter(({ url }) => url.startsWith(`file://${root}/`) && !/\/(node_modules|test)\//.test(url));
    const lines = ours.flatMap(linesOf).filter((line) => !noted.has(line));
    for (const line of lines) noted.add(line);
    appendFileSync(record, [...lines, words, ''].join('\n'));
  });
}

function linesOf({ url, functions }: Profiler.ScriptCoverage): string[] {
  const file = fileURLToPath(url);
  const source = readFileSync(file, 'utf8');
  const ran = new Uint8Array(source.length);
  // A range overrides the ranges around it, which come first.
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
    ran.fill(Math.sign(count), startOffset, endOffset);
  }
  let end = -1;
  return source.split('\n').flatMap((text, index) => {
    const start = end + 1 + text.search(/\S|$/);
    end += 1 + text.length;
    return ran.subarray(start, end).includes(1) ? [`${file.slice(root.length + 1)}:${index + 1}`] : [];
  });
}

// Also for a child process with its own environment.
const started = ChildProcess.prototype as ChildProcess & { spawn(options: { envPairs: string[] }): number };
const { spawn } = started;
started.spawn = function (options) {
  options.envPairs.push(`MUTANTS_RECORD=${record}`, `NODE_OPTIONS=--import=${import.meta.filename}`);
  return spawn.call(this, options);
};
process.once('exit', () => note());
// For a process that is killed.
setInterval(() => note(), 2_000).unref();
