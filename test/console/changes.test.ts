import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { watchedLog } from '../../console/log-changes.ts';
import { createPolledChanges } from '../../console/polled-changes.ts';
import type { LiveChange } from '../../console/requests.ts';
import { jobStatuses } from '../../lib/engine/record/job.ts';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { consoleOf, type TestConsole, TOKEN } from './console-of.ts';
import { watchTable } from './table-calls.ts';

let table: ReturnType<typeof watchTable>;
const open: AbortController[] = [];
let relay: TestRelay;

beforeAll(async () => {
  relay = await startRelay();
  table = watchTable();
});

afterEach(() => {
  for (const page of open.splice(0)) page.abort();
});

afterAll(async () => {
  table.close();
});

/** Listens as a page does, until the test ends. */
async function listen({ url }: TestConsole): Promise<AsyncIterator<LiveChange>> {
  const page = new AbortController();
  open.push(page);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { body, status } = await fetch(`${url}/api/changes`, { headers, signal: page.signal });
  if (!body || status !== 200) throw new Error(`the changes are answered with ${status}`);
  return changesIn(body);
}

async function* changesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<LiveChange> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines.filter((line) => line !== '')) yield JSON.parse(line);
  }
}

/** Waits for the line that names this job. */
async function until(changes: AsyncIterator<LiveChange>, jobId: string): Promise<void> {
  for (;;) {
    const { value, done } = await changes.next();
    if (done) throw new Error('the stream has ended');
    if ('jobs' in value && value.jobs.includes(jobId)) return;
  }
}

async function anIssue(id: number): Promise<string> {
  const { answer } = await relay.post('issues', issueEvent('opened', { id }));
  return String((answer.jobs as string[])[0]);
}

it('a page on this machine is notified when a job is queued, and at each of its steps', async () => {
  const watching = await consoleOf(relay);
  const { log } = relay.runtime;
  Object.assign(log, watchedLog({ ...log }, watching.saw));
  const [first, second] = [await listen(watching), await listen(watching)];
  const id = await anIssue(1);
  await Promise.all([until(first, id), until(second, id)]);
  await relay.work();
  await Promise.all([until(first, id), until(second, id)]);
  expect((await first.next()).value).toEqual({ now: true });
  await watching.close();
});

it('pages of a stage are notified when a job is queued, done or parked; one reading of the index serves all, and without a page there is none', async () => {
  let readings = 0;
  const jobs = {
    ...relay.stores.jobs,
    async list(...given: Parameters<typeof relay.stores.jobs.list>) {
      readings += 1;
      return relay.stores.jobs.list(...given);
    },
  };
  const watching = await consoleOf(relay, { changes: createPolledChanges(jobs, () => {}) });
  await watching.get('/api/relay');
  expect(readings).toBe(0);
  const pages = await Promise.all([listen(watching), listen(watching), listen(watching)]);
  expect((await pages[0]?.next())?.value).toEqual({ now: true });
  const id = await anIssue(2);
  await Promise.all(pages.map((page) => until(page, id)));
  relay.sandbox.revokeKey(relay.sandbox.keys[0]?.apiKey ?? '');
  await relay.work();
  await Promise.all(pages.map((page) => until(page, id)));
  // One query for each status and round, and a few rounds until the job was seen. Separate readings would need three
  // times as many for three pages.
  const rounds = readings / jobStatuses.length;
  for (const page of open.splice(0)) page.abort();
  await watching.close();
  const before = readings;
  await anIssue(3);
  expect({ rounds: Number.isInteger(rounds), readings }).toEqual({ rounds: true, readings: before });
});

it('no change is found by a scan', () => {
  expect(new Set(table.calls.map(({ action }) => action))).not.toContain('Scan');
});
