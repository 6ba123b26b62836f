import { expect, it } from 'vitest';
import { killAgainAndAgain } from '../kill/kill-run.ts';

// `npm run test:kill` runs longer. Even with one seed, the moments of the kills vary from run to run.
it('every accepted event gets one defect, however often the process is killed', async () => {
  const lines: string[] = [];
  const faults = await killAgainAndAgain({ seed: 1, kills: 4, events: 60, print: (line) => lines.push(line) });
  console.log(lines.join('\n'));
  expect(faults).toEqual([]);
});
