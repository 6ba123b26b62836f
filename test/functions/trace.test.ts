import { token, webhook } from 'partner-relay';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { issueEvent } from '../issue-events.ts';
import { startRelay, type TestRelay } from '../relay.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const own = {
  alert: {
    on: webhook({
      verify: token({ header: 'X-Token' }),
      body: z.object({ id: z.string() }),
      input: {},
      job: ({ id }) => ({ happened: [id], input: {} }),
    }),
    run: async () => 'done',
  },
};

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ own });
  relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, { alert: 'of the tool' });
});
beforeEach(() => {
  relay.log.length = 0;
});

let alerts = 0;
const senders = {
  GitHub: (headers: Record<string, string>) => relay.post('issues', issueEvent('opened', { id: ++alerts }), headers),
  'a tool': async (headers: Record<string, string>) => {
    const body = JSON.stringify({ id: String(++alerts) });
    const sent = { method: 'POST', headers: { 'x-token': 'of the tool', ...headers }, body };
    expect(await fetch(new URL('/hooks/alert', relay.url), sent)).toMatchObject({ status: 200 });
  },
};

it.each([
  ['GitHub', ['job queued', 'step done', 'job succeeded']],
  ['a tool', ['job queued', 'job succeeded']],
] as const)('the trace in a request of %s is in every line about its job', async (sender, messages) => {
  await senders[sender]({ traceparent: TRACE });
  await relay.workToTheEnd();
  const ofJob = relay.log.filter(({ jobId }) => jobId !== undefined);
  expect(ofJob.map(({ message }) => message)).toEqual(expect.arrayContaining([...messages]));
  for (const line of ofJob) expect(line.trace ?? Object(line.cause).trace, String(line.message)).toBe(TRACE);
});

it.each([
  [{}],
  [{ traceparent: 'no trace' }],
  [{ traceparent: TRACE.toUpperCase() }],
  [{ traceparent: `${TRACE}${'0'.repeat(10_000)}` }],
])("a tool's request without a trace works, too: %j", async (headers) => {
  await senders['a tool'](headers);
  await relay.workToTheEnd();
  const [ended] = relay.log.filter(({ message }) => message === 'job succeeded');
  expect(ended).toMatchObject({ automation: 'alert', trace: undefined });
  expect(JSON.stringify(relay.log)).not.toContain('"trace"');
});
