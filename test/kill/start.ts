import { parseArgs } from 'node:util';
import { killAgainAndAgain } from './kill-run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '20' },
    events: { type: 'string', default: '100' },
  },
});
const [seed = 0, kills = 0, events = 0] = [values.seed, values.kills, values.events].map(Number);
if (![seed, kills, events].every((number) => Number.isInteger(number) && number >= 0)) {
  console.error('Usage: npm run test:kill -- [--seed N] [--kills N] [--events N]');
  process.exit(1);
}
console.log(`${events} issues, ${kills} kills, seed ${seed}`);
const faults = await killAgainAndAgain({ seed, kills, events, print: (line) => console.log(line) });
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
