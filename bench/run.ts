import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inOneLine, isMet } from './figure.ts';
import { parts } from './parts.ts';

const help = `npm run bench [-- [--write] [PART …]] measures all parts, or those that are named:

${parts.map(({ name, about }) => `  ${name.padEnd(12)}  ${about}`).join('\n')}

  --write       part budget also draws docs/budget.svg`;

const { values: options, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean' }, write: { type: 'boolean', default: false } },
});
const unknown = chosen.find((name) => !parts.some((part) => part.name === name));
if (options.help || unknown) {
  if (unknown) console.error(`There is no part ${unknown}.`);
  console.log(help);
  process.exit(unknown ? 2 : 0);
}

const folder = mkdtempSync(join(tmpdir(), 'partner-relay-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

console.log(`${availableParallelism()} cores of ${cpus()[0]?.model}, Node ${process.version}, ${process.platform}`);

const missed: string[] = [];
// In turn, because parallel work would distort the measurements.
for (const { name, about, measure } of parts) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  console.log(`\n${name}: ${about}`);
  const own = join(folder, name);
  mkdirSync(own);
  try {
    for await (const figure of measure({ folder: own, write: options.write, isTrial: false })) {
      console.log(`  ${inOneLine(figure)}`);
      if (!isMet(figure)) missed.push(figure.name);
    }
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
console.log(missed.length > 0 ? `\nMissed: ${missed.join('; ')}.` : '\nAll aims are met.');
