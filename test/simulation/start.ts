import { figuresOf, inOneLine } from './figures.ts';
import { simulate } from './simulation.ts';
import { workloads } from './workloads.ts';

// node test/simulation/start.ts [part of a name] [seed]: prints the figures of each workload whose name contains the
// text.
const [part = '', seed = '1'] = process.argv.slice(2);
for (const [name, workload] of Object.entries(workloads)) {
  if (!name.includes(part)) continue;
  const load = workload(Number(seed));
  const began = performance.now();
  const result = await simulate(load);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${name} (${seconds} s): ${inOneLine(figuresOf(result, load))}`);
  for (const [reason, jobs] of result.reasons) console.log(`  ${jobs} jobs ${reason}`);
  for (const [error, times] of result.errors) console.log(`  ${times} times: ${error}`);
}
