import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';

const operation = '/defects/create';

let relay: TestRelay;
let seeded: number;
afterEach(() => relay.close());

async function start(options: TestRelayOptions = {}): Promise<void> {
  relay = await startRelay(options);
  seeded = relay.sandbox.data.defects.length;
}

const defects = () => relay.sandbox.data.defects.slice(seeded);

describe('creations whose answers are lost', () => {
  it('lost creations share one reading of the list', async () => {
    await start();
    const issues = 30;
    // Three of ten. The same bytes follow each, so that ten issues are thirteen requests.
    for (let requests = 0; requests < 3 * 13; requests += 13) {
      for (const lost of [2, 6, 10]) {
        relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation, times: 1, skip: requests + lost });
      }
    }
    for (let id = 1; id <= issues; id++) await relay.post('issues', issueEvent('opened', { id }));
    await relay.workToTheEnd();
    expect(defects()).toHaveLength(issues);
    expect(relay.sandbox.audit.filter(({ status }) => status === null)).toHaveLength(9);
    expect(relay.sandbox.requests).toBeLessThanOrEqual(issues + 9 + 3);
  });
});

describe('a request whose slot grew old before its first send', () => {
  it('an unsent request is deleted if the run has no time for another, because none of its bytes were sent', async () => {
    let stalls = true;
    await start({
      runtime: {
        randomBytes: (size) => {
          // Of a nonce: between the slot and the send.
          if (size === 12 && stalls) {
            stalls = false;
            relay.clock.now += 55_000;
            relay.sandbox.keys[0] = { ...defaultKey, scopes: [] };
          }
          return randomBytes(size);
        },
      },
    });
    await relay.post('issues', issueEvent('opened'));
    await relay.workToTheEnd();
    expect(relay.sandbox.audit.map(({ status }) => status)).toEqual([403]);
    expect((await relay.jobs()).map((job) => job.parked)).toMatchObject([{ outcomeUnknown: false }]);
  });
});

describe('a 429 while the budget cannot be written', () => {
  it('a job waits after a 429 while the budget cannot be written', async () => {
    await start({
      runtime: {
        async fetch(...request) {
          await relay.stores.table.put({ pk: 'budget#main', sk: 'budget', version: 1, granted: 'broken' });
          return globalThis.fetch(...request);
        },
      },
    });
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 90 });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    expect(await relay.jobs()).toMatchObject([
      { status: 'waiting', attempts: 0, waitingFor: 'the service wants fewer calls' },
    ]);
  });
});
