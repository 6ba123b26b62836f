import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, it } from 'vitest';
import { createCrowd } from '../../local/crowd.ts';

const event = {} as APIGatewayProxyEventV2;
const workers = () => ({ interactive: 5, background: 15 });

it('jobs run one at a time in a crowd, and background jobs after ten seconds', async () => {
  let now = 0;
  let calmed = 0;
  const calm = () => calmed++;
  const crowd = createCrowd(() => now, calm, workers);
  const answers: (() => void)[] = [];
  const webhook = crowd.counted(() => new Promise((resolve) => answers.push(() => resolve({ statusCode: 202 }))));
  const running = () => ['interactive.fifo', 'background.fifo'].map((name) => crowd.maxConcurrency({ name }));

  const few = Array.from({ length: 5 }, () => webhook(event));
  expect(running()).toEqual([5, 15]);
  const many = Array.from({ length: 11 }, () => webhook(event));
  expect(running()).toEqual([1, 0]);
  now = 9_999;
  expect(running()).toEqual([1, 0]);
  now = 10_000;
  expect(running()).toEqual([1, 1]);

  for (const answer of answers.splice(0, 10)) answer();
  await Promise.all([...few, ...many.slice(0, 5)]);
  expect([...running(), calmed]).toEqual([1, 1, 0]);
  for (const answer of answers) answer();
  await Promise.all(many);
  expect([...running(), calmed]).toEqual([5, 15, 1]);
});

it('failed requests are no longer counted', async () => {
  const nothing = () => 0;
  const crowd = createCrowd(nothing, nothing, workers);
  const webhook = crowd.counted(() => Promise.reject(new Error('it failed')));
  const all = Array.from({ length: 6 }, () => webhook(event));
  expect(crowd.maxConcurrency({ name: 'background.fifo' })).toBe(0);
  await Promise.allSettled(all);
  expect(crowd.maxConcurrency({ name: 'background.fifo' })).toBe(15);
});
