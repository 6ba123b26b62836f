import { expect, it } from 'vitest';
import { openStores } from '../../lib/runtime.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

let relay: TestRelay;

const HOUR_MS = 3_600_000;
const functions = ['github-webhook', 'slack-webhook', 'job-worker', 'job-sweep', 'credential-check'];

/** An event and a command whose messages are lost, and one more event. */
async function bringWork(id: number): Promise<void> {
  await relay.post('issues', issueEvent('opened', { id }));
  expect(await command(relay, 'help')).toMatchObject({ status: 200 });
  expect(await command(relay, `find ${id}`)).toMatchObject({ status: 200 });
  for (const queue of relay.stack.queues) {
    for (let message = queue.receive(); message; message = queue.receive()) queue.delete(message.receiptHandle);
  }
  await relay.post('issues', issueEvent('opened', { id: id + 1 }));
}

it.each([...functions, 'the operator'].flatMap((process) => [-120, 5].map((hours) => ({ process, hours }))))(
  'a clock of $process that is $hours hours off has no effect',
  async ({ process, hours }) => {
    const aheadMs = hours * HOUR_MS;
    relay = await startRelay({ aheadMs: { [process]: aheadMs } });
    await bringWork(1);
    await relay.fire('credential-check');
    if (process === 'the operator') await operate(aheadMs);
    await relay.work();
    await relay.pass(3 * 60_000);
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  },
);

/** The writes of an operator's commands, by the clock of their machine. */
async function operate(aheadMs: number): Promise<void> {
  const { jobs } = openStores({ ...relay.runtime, clock: () => relay.clock.now + aheadMs });
  for (const job of await jobs.list('queued', { limit: 10 }))
    await jobs.requeue(job, { at: relay.clock.now, by: 'the operator', what: 'replayed' });
}
