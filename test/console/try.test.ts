import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobPage, TryFacts } from '../../console/contract.ts';
import type { ActionOutcome, TryAction } from '../../console/requests.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { consoleOf, type TestConsole } from './console-of.ts';

let relay: TestRelay;
let console_: TestConsole;

beforeAll(async () => {
  const config = exampleConfig({}, { connection: { mcp: { accounts: 'offered' } } });
  relay = await startRelay({ config });
  console_ = await consoleOf(relay);
});

afterAll(async () => {
  await console_.close();
});

beforeEach(() => relay.sandbox.clearFaults());

const read = () => console_.get<TryFacts>('/api/try');

/** Carries out an action and its jobs. @returns the operator's answer */
async function act(action: TryAction): Promise<string> {
  const { status, answer } = await console_.post<{ text: string; error?: string }>('/api/try', action);
  if (status !== 200) throw new Error(answer.error);
  await relay.work();
  return answer.text;
}

async function send(id: string): Promise<string> {
  const { event = '', body } = (await read()).examples.find((one) => one.id === id) ?? expect.fail('no such example');
  return act({ do: 'send event', event, body });
}

describe('the screen Try', () => {
  it('an example event becomes a defect', async () => {
    // The relay ignores old events, and the clock of the test stands still.
    relay.clock.now = Date.now();
    expect(await send('issue')).toBe('Sent: 1 job.');
    expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'Spelling error in the README file' });
    expect(await send('issue closed')).toMatch(/^Sent: /);
    const { jobs } = await console_.get<JobPage>('/api/jobs');
    expect(new Set(jobs.map(({ subject }) => subject)).size).toBe(1);
  });

  it('the button in the answer to a command can be pressed', async () => {
    await act({ do: 'send command', text: '/pm link' });
    const [answer] = (await read()).messages;
    const { channel, ts, parts } = answer ?? expect.fail('there is no answer');
    const { actionId, value } = parts.at(-1)?.buttons[0] ?? expect.fail('there is no button');
    await act({ do: 'press', channel, ts, actionId, ...(value && { value }) });
    expect(JSON.stringify((await read()).messages[0]?.parts)).toContain('/start?ticket=');
  });

  it('a command is answered as in Slack, and the answer names its job', async () => {
    expect(await act({ do: 'send command', text: '/pm help' })).toContain('see the messages');
    expect(JSON.stringify((await read()).messages)).toContain('/pm log');
    await act({ do: 'send command', text: '/pm relate' });
    const usage = expect.stringContaining('/pm relate <defect> <task|case|step> <id>');
    expect((await read()).messages[0]?.parts[0]?.text).toEqual([{ text: usage }]);
    const command = await console_.post<ActionOutcome>('/api/try', { do: 'send command', text: '/pm find login' });
    expect(command.answer.jobs).toEqual([expect.stringMatching(/^find-/)]);
    await relay.work();
    const [job] = await relay.jobs();
    const waiting = { ...job, status: 'waiting', wakeAt: relay.clock.now + 60_000 };
    for (let index = 0; index < 250; index++) {
      const id = `backlog-${index}`;
      await relay.stores.table.put({ ...waiting, ...keys.job(id), id });
    }
    const behind = await console_.post<ActionOutcome>('/api/try', { do: 'send command', text: '/pm find shop' });
    expect(behind.answer.jobs).toEqual([expect.stringMatching(/^find-/)]);
    await relay.work();
    expect((await read()).messages[0]?.to).toBe('Mira Novak');
  });

  it('a fault of the sandbox is set, listed and cleared', async () => {
    const { faultKinds } = await read();
    for (const { fault } of faultKinds) await act({ do: 'set fault', fault });
    const { faults } = await read();
    expect(faults.map(({ fault }) => fault)).toEqual(faultKinds.map(({ fault }) => fault));
    expect(faults.map(({ title }) => title)).toEqual(faultKinds.map(({ title }) => expect.stringContaining(title)));
    expect(faults[0]?.title).toBe('The answer to the next new defect is lost; hits 1 more call');
    for (const { id } of faults) await act({ do: 'clear fault', id });
    expect((await read()).faults).toEqual([]);
    expect(await act({ do: 'clear fault', id: faults[0]?.id ?? '' })).toContain('already over');
  });

  const event = (body: string): TryAction => ({ do: 'send event', event: 'issues', body });
  it.each<[string, TryAction, RegExp]>([
    ['a payload that is not an object', event('7'), /JSON object/],
    ['a payload that is not JSON', event('{'), /the payload is not JSON: Expected property name/],
    ['a payload without its fields', event('{"action":"opened"}'), /refused it with 4/],
    ['a command without a slash', { do: 'send command', text: 'help' }, /begins with a slash/],
    ['a message that is gone', { do: 'press', channel: 'C0', ts: '1', actionId: 'a' }, /the message is gone/],
    ['an unknown fault', { do: 'set fault', fault: { kind: 'fire' } }, /kind: expected one of/],
  ])('%s is refused with an explanation', async (_, action, words) => {
    await expect(act(action)).rejects.toThrow(words);
    expect(console_.failures).toEqual([]);
  });

  it("never shows the service's key", async () => {
    expect(JSON.stringify(await read())).not.toContain(relay.sandbox.keys[0]?.secretKey);
  });

  it('does not exist for a stage', async () => {
    const stage = await consoleOf(relay, { try: undefined });
    expect(await stage.get('/api/relay')).toMatchObject({ canTry: false });
    expect((await stage.post('/api/try', { do: 'send command', text: '/pm help' })).status).toBe(404);
    await stage.close();
  });
});
