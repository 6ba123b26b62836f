import { expect, it } from 'vitest';
import { killAgainAndAgain } from '../kill/kill-run.ts';

// `npm run test:kill` is the long one. The moments of the kills differ from run to run even with one seed.
it('every accepted event gets one defect, however often the process is killed', async () => {
  const lines: string[] = [];
  const faults = await killAgainAndAgain({ seed: 1, kills: 4, events: 60, print: (line) => lines.push(line) });
  console.log(lines.join('\n'));
  expect(faults).toEqual([]);
});
