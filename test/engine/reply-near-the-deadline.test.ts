import { expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

/** A reply may take 20 seconds, and the worker stops 59 seconds after it began. */
it.each([
  [39, []],
  [40, ['this run has no time left for a reply']],
])('a reply due %i seconds into a run is left to the next run if it could be cut off', async (seconds, waits) => {
  const relay: TestRelay = await startRelay({
    github: { token: 'ghp_token' },
    runtime: {
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (String(input).endsWith('/defects/create')) relay.clock.now += seconds * 1_000;
        return answer;
      },
    },
  });
  await relay.happens(issueEvent('opened'));
  expect(relay.github.comments).toHaveLength(1);
  expect(relay.log.flatMap(({ message, why }) => (message === 'job waits' ? [why] : []))).toEqual(waits);
});

it('a worker that stalls beyond its lease leaves the reply to the worker that took over', async () => {
  const relay: TestRelay = await startRelay({ github: { token: 'ghp_token' } });
  const told: number[] = [];
  const isReply = (input: string) => input.includes('"status":{"S":"begun"}');
  relay.table.loseAnswer(isReply, async () => {
    relay.clock.now += 100_000;
    await relay.sweep();
    await relay.workToTheEnd();
    told.push(relay.github.comments.length);
  });
  await relay.happens(issueEvent('opened'));
  told.push(relay.github.comments.length);
  expect(told).toEqual([1, 1]);
});
