import { beforeEach, expect, it } from 'vitest';
import { resumeForPerson } from '../../lib/engine/operate/resume.ts';
import type { Fault } from '../../sandbox/faults.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { PLATFORM, readable } from '../slack-requests.ts';

const MINUTE = 60_000;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ config: { ...exampleConfig(), contactChannel: PLATFORM } });
});

/** The notices, without those about parked jobs. */
const told = () =>
  relay.slack.messages
    .filter(({ channel }) => channel === PLATFORM)
    .map(({ blocks }) => readable(blocks))
    .filter((text) => !text.includes('parked since'));

/** Lets minutes pass, in each of which the sweep runs twice at once. */
async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    relay.clock.now += MINUTE;
    await Promise.all([relay.sweep(), relay.sweep()]);
    await relay.work();
  }
}

async function fail(fault: Fault, from = 1): Promise<void> {
  relay.sandbox.setFault(fault);
  for (let id = from; id < from + 4; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.work();
}

/** Mira resumes the connection. */
const resume = () => resumeForPerson('main', 'mira', { ...relay.stores, config: relay.runtime.config });

const IS_DOWN =
  /:octagonal_sign: \*main has been down since <!date[\s\S]*\sThe service answers 503 \(a maintenance page\)\./;
const IS_REFUSED =
  /Since <!date.*, the service has refused the key of the connection main\..*secrets set partner\/main/;
it.each<[string, Fault, number, RegExp]>([
  ['is down for five minutes', { kind: 'maintenance' }, 5, IS_DOWN],
  ['refuses the key', { kind: 'key-revoked' }, 1, IS_REFUSED],
])('a connection that %s is reported once, and once when it works again', async (_, fault, after, words) => {
  await fail(fault);
  await minutes(after - 1);
  if (after > 1) expect(told()).toEqual([]);
  await minutes(12);
  expect(told()).toEqual([expect.stringMatching(words)]);
  relay.sandbox.clearFaults();
  await minutes(12);
  expect(told()).toEqual([expect.stringMatching(words), expect.stringMatching(/main (?:works )?again\./)]);
});

it('a message that Slack refuses is sent later, even after a crash between posting and noting it', async () => {
  await fail({ kind: 'key-revoked' });
  let stops = 0;
  for (const n of [1, 2, 3, 4]) {
    let left = n;
    relay.table.stopAt((body) => body.includes('"parked-notices"') && body.includes('outage main') && --left === 0);
    await relay.sweep().catch(() => stops++);
    relay.table.goOn();
    relay.clock.now += 3 * MINUTE;
  }
  await minutes(3);
  expect(told()).toHaveLength(1);
});

it('an outage is reported after a crash between reporting the last end and noting it', async () => {
  await fail({ kind: 'key-revoked' });
  await minutes(3);
  relay.sandbox.clearFaults();
  relay.table.stopAt((body) => body.includes('"outage main"') && !body.includes('"Item"') && told().length === 2);
  await minutes(8).catch(() => {});
  relay.table.goOn();
  expect(told()).toHaveLength(2);
  await fail({ kind: 'maintenance' }, 5);
  await minutes(12);
  expect(told()).toHaveLength(3);
});

it('a connection that an operator resumes counts as working when a call succeeds', async () => {
  await fail({ kind: 'key-revoked' });
  await minutes(3);
  await resume();
  await relay.sweep();
  await minutes(5);
  expect(told()).toHaveLength(1);
  relay.sandbox.clearFaults();
  await resume();
  await minutes(2);
  expect(told()).toHaveLength(2);
});

it('a short outage is not reported', async () => {
  await fail({ kind: 'maintenance' });
  await minutes(1);
  relay.sandbox.clearFaults();
  await minutes(8);
  expect(told().filter((text) => text.includes('main is down') || text.includes('works again'))).toEqual([]);
});
