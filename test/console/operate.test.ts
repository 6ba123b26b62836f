import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Ignored, LinkPage, LinkRow, Now } from '../../console/contract.ts';
import type { ActionOutcome, RelayAction } from '../../console/requests.ts';
import type { ConsoleOptions } from '../../console/server.ts';
import { issueEvent } from '../issue-events.ts';
import { newFolder } from '../new-folder.ts';
import { startRelay, type TestRelay } from '../relay.ts';
import { consoleOf, type TestConsole } from './console-of.ts';

const REPOSITORY = 'Codertocat/Hello-World';

let relay: TestRelay;
let console_: TestConsole;
afterEach(async () => {
  await console_.close();
});

async function start(options: Partial<ConsoleOptions> = {}): Promise<void> {
  relay = await startRelay();
  console_ = await consoleOf(relay, options);
}

/** @returns the operator's answer */
async function operate(operation: RelayAction): Promise<ActionOutcome> {
  const { status, answer } = await console_.post<ActionOutcome & { error?: string }>('/api/operate', operation);
  if (status !== 200) throw new Error(`${status}: ${answer.error}`);
  return answer;
}

async function opened(id: number): Promise<void> {
  await relay.post('issues', issueEvent('opened', { id, title: `Issue ${id}` }));
  await relay.workToTheEnd();
  relay.clock.now += 1;
}

const issue = (id: number) => `${REPOSITORY}#${id}`;

async function linkOf(name: string): Promise<LinkRow | undefined> {
  const { links: rows } = await console_.get<LinkPage>(`/api/links?find=${encodeURIComponent(name)}`);
  return rows[0];
}

describe("an operator's actions in the console", () => {
  it('a paused connection is shown with its waiting line and resumed, and its jobs continue', async () => {
    await start();
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 300, times: 1 });
    await relay.post('issues', issueEvent('opened', { id: 1 }));
    await relay.work();
    const [paused] = (await console_.get<Now>('/api/now')).connections;
    expect(paused?.pausedUntil).toBeGreaterThan(relay.clock.now);
    expect(paused?.lanes.find(({ lane }) => lane === 'background')).toMatchObject({
      ...{ inLine: { jobs: 1 }, left: 0, nextSlotAt: paused?.pausedUntil },
    });
    const { text } = await operate({ do: 'resume', connection: 'main' });
    expect(text).toMatch(/^ended the pause, which would have lasted until .*\n1 waiting job continues$/);
    expect((await console_.get<Now>('/api/now')).connections[0]).toMatchObject({ stopped: [], pausedUntil: null });
    await expect(operate({ do: 'resume', connection: 'mian' })).rejects.toThrow(/400: .*no connection.*main/);
  });

  it('the link of an issue is set and cleared, with the checks of the command line', async () => {
    await start();
    await opened(1);
    await opened(2);
    const [first, second] = relay.sandbox.data.defects.slice(-2).map(({ defect_id }) => String(defect_id));
    const set = { do: 'set link', issue: issue(1), defectId: String(second), steal: false } as const;
    await expect(operate(set)).rejects.toThrow(/400: the relay created .* for something else/);
    expect(await linkOf(issue(1))).toMatchObject({ life: 'made', defectId: first });
    await operate({ ...set, steal: true });
    expect(await linkOf(issue(1))).toMatchObject({ life: 'made', defectId: second });
    await operate({ do: 'clear link', issue: issue(2) });
    expect(await linkOf(issue(2))).toMatchObject({ life: 'unclaimed' });
    const [{ decisions } = expect.fail('there is no job')] = await relay.jobs();
    expect(decisions?.newest).toContainEqual(expect.objectContaining({ by: 'mira', what: 'linked' }));
    await expect(operate({ do: 'clear link', issue: 'no issue' })).rejects.toThrow(/is not an issue/);
    expect(console_.failures).toEqual([]);
  });

  it('a schedule is run, for a given time if it accepts one', async () => {
    await start({ runSchedule: (slug, event) => relay.fire(slug, event) });
    const said = await operate({ do: 'run schedule', schedule: 'due-schedules', at: relay.clock.now });
    expect(said).toMatchObject({ text: 'due-schedules ran.', jobs: [] });
    expect(said.result).toBeDefined();
    await expect(operate({ do: 'run schedule', schedule: 'job-sweep', at: 0 })).rejects.toThrow(/current state/);
    await expect(operate({ do: 'run schedule', schedule: 'tea' })).rejects.toThrow(/no schedule 'tea'/);
  });

  it('ignored events are listed with their reasons on one machine; for a stage, the page names the command that lists them', async () => {
    const logFile = join(newFolder(), 'functions.log');
    const ignored = { event: 'issues', deliveryId: 'd-1', reason: 'it is locked' };
    const line = { timestamp: '2026-11-20T10:00:00.000Z', message: 'delivery ignored', ...ignored };
    writeFileSync(logFile, `${JSON.stringify(line)}\n`);
    await start({ logFile });
    expect((await console_.get<Ignored>('/api/ignored')).events).toMatchObject([ignored]);
    const stage = await consoleOf(relay, { name: 'prod' });
    await expect(stage.get('/api/ignored')).rejects.toThrow(/404: .*partner-relay-prod-github-webhook/s);
    await stage.close();
  });
});
