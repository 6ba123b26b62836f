import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newsOf } from '../../lib/engine/record/job.ts';
import { readJob } from '../../lib/engine/record/read-job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { command } from '../slack-requests.ts';

const operation = '/defects/create';

let relay: TestRelay;

it('creations whose answers are lost share one reading of the list', async () => {
  relay = await startRelay();
  const issues = 30;
  // Three of ten jobs. Each sends the same bytes again, so ten issues are thirteen requests.
  for (let requests = 0; requests < 3 * 13; requests += 13) {
    for (const lost of [2, 6, 10]) {
      relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation, times: 1, skip: requests + lost });
    }
  }
  for (let id = 1; id <= issues; id++) await relay.post('issues', issueEvent('opened', { id }));
  await relay.workToTheEnd();
  expect(relay.defects()).toHaveLength(issues);
  expect(relay.sandbox.audit.filter(({ status }) => status === null)).toHaveLength(9);
  expect(relay.sandbox.requests).toBeLessThanOrEqual(issues + 9 + 3);
});

it.each([2, 3, 4])(
  'an open creation whose resends meet 429 goes before most others after each of %i pauses, and is not parked',
  async (times) => {
    let sent = 0;
    const resentAt: number[] = [];
    let first: unknown;
    relay = await startRelay({
      config: exampleConfig({ comment: false }, { connection: { limits: { perMinute: 30, perDay: 5_000 } } }),
      runtime: {
        async fetch(url, init) {
          if (!String(url).endsWith(operation)) return fetch(url, init);
          sent++;
          if (sent === 2) first = init?.body;
          if (init?.body === first) {
            resentAt.push(sent);
            if (resentAt.length > 1 && resentAt.length <= 1 + times)
              relay.sandbox.setFault({ kind: 'rate-limited', operation, times: 1, retryAfterSeconds: 20 });
          }
          return fetch(url, init);
        },
      },
    });
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation, times: 1, skip: 1 });
    for (let id = 1; id <= 50; id++) {
      await relay.post('issues', issueEvent('opened', { id }));
      if (id % 10 === 0) await relay.work();
    }
    await relay.workToTheEnd();
    expect(resentAt).toHaveLength(2 + times);
    // Only one worker runs here, so jobs that wait in place go first.
    expect(Math.max(...resentAt.slice(1).map((at, index) => at - (resentAt[index] ?? 0)))).toBeLessThanOrEqual(10);
    expect(await relay.jobs('parked')).toEqual([]);
    expect(relay.defects()).toHaveLength(50);
  },
);

describe('an open creation in the table', () => {
  /** Everything that a reader of jobs can see. */
  async function seen(): Promise<string> {
    const jobs = await relay.jobs();
    const items = await Promise.all(jobs.map(({ id }) => relay.stores.table.partition(`job#${id}`)));
    return JSON.stringify(items.flat());
  }

  it('shows no key, no signature and no response_url, and the same bytes are sent again', async () => {
    const sent: string[] = [];
    relay = await startRelay({
      runtime: {
        async fetch(url, init) {
          if (String(url).endsWith(operation)) sent.push(JSON.stringify([...new Headers(init?.headers)]) + init?.body);
          return fetch(url, init);
        },
      },
    });
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation });
    const responseUrl = relay.slack.makeResponseUrl({ userId: 'U0MIRA', channelId: 'C0PLATFORM' });
    await command(relay, 'done 101', { responseUrl });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    const items = await seen();
    expect(items).toContain('proof');
    const [signature = ''] = /[^"]*(?=")/.exec(sent[0]?.split('["x-signature","')[1] ?? '') ?? [];
    expect(signature).not.toBe('');
    for (const secret of [defaultKey.apiKey, signature, new URL(responseUrl).pathname]) {
      expect(items).not.toContain(secret);
    }
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(new Set(sent).size).toBe(1);
    expect(sent.length).toBeGreaterThan(1);
    expect(relay.defects()).toHaveLength(1);
  });

  it("is sent to no host other than its connection's, whatever the table says", async () => {
    const hosts = new Set<string>();
    relay = await startRelay({
      runtime: {
        async fetch(url, init) {
          hosts.add(new URL(String(url)).host);
          return fetch(url, init);
        },
      },
    });
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    const [job] = await relay.jobs();
    const items = await relay.stores.table.partition(keys.job(job?.id ?? '').pk);
    for (const { pk, sk, ...item } of items.filter((one) => String(one.sk).startsWith('request#'))) {
      const request = { ...(item.request as object), url: `https://evil.example/api/v1/partner${operation}` };
      await relay.stores.table.put({ pk: String(pk), sk: String(sk), ...item, request });
    }
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(hosts).not.toContain('evil.example');
    expect(relay.defects()).toHaveLength(1);
  });

  it('is searched for once the key has been replaced', async () => {
    relay = await startRelay();
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation });
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    relay.sandbox.clearFaults();
    const next = { ...defaultKey, apiKey: 'pk_next', secretKey: 'sk_next' };
    relay.sandbox.keys.splice(0, 1, next);
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl: relay.sandbox.url, ...next });
    relay.clock.now += 60_000;
    await relay.workToTheEnd();
    expect(await relay.jobs('succeeded')).toHaveLength(1);
    expect(relay.defects()).toHaveLength(1);
    const { steps = [] } =
      (await readJob((await relay.jobs())[0]?.id ?? '', { ...relay.stores, clock: Date.now })) ?? {};
    expect(steps.find(({ calls }) => calls === 'defects/create')?.settledBy).toContain('found');
  });
});

const unreadable = (answer: Response) =>
  Object.defineProperty(answer, 'headers', {
    value: {
      get() {
        throw new TypeError('a mistake of the relay');
      },
    },
  });
const saysNo = ({ status }: Response) => Response.json({ success: false, message: { toString: 1 } }, { status });

it.each([
  ['an answer that the relay fails to read', unreadable],
  ['a success status and an envelope that says no', saysNo],
])('a creation that is carried out exists once, whatever else happens: %s', async (_, alter) => {
  let left = 3;
  relay = await startRelay({
    runtime: {
      async fetch(url, init) {
        const answer = await fetch(url, init);
        return String(url).endsWith(operation) && left-- > 0 ? alter(answer) : answer;
      },
    },
  });
  await relay.happens(issueEvent('opened'));
  expect(relay.defects()).toHaveLength(1);
  expect((await relay.jobs()).map(({ status }) => status)).toEqual(['succeeded']);
});

it('an unsent request with an old slot is deleted if the run has no time for another, because none of its bytes were sent', async () => {
  let stalls = true;
  relay = await startRelay({
    runtime: {
      randomBytes: (size) => {
        // A nonce is drawn between the slot and the send.
        if (size === 12 && stalls) {
          stalls = false;
          relay.clock.now += 55_000;
          relay.sandbox.keys[0] = { ...defaultKey, scopes: [] };
        }
        return randomBytes(size);
      },
    },
  });
  await relay.happens(issueEvent('opened'));
  expect(relay.sandbox.audit.map(({ status }) => status)).toEqual([403]);
  expect((await relay.jobs()).map((job) => job.parked)).toMatchObject([{ kind: 'refused' }]);
});

it('a job waits after a 429 while the budget cannot be written', async () => {
  relay = await startRelay({
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
  const jobs = await relay.jobs();
  expect(jobs).toMatchObject([{ status: 'waiting', attempts: 0 }]);
  expect(jobs.map(newsOf)).toEqual(['the service wants fewer calls']);
});
