import { describe, expect, it } from 'vitest';
import { runRelayOf } from '../cli/run-command.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

type Fields = Record<string, unknown>;

let relay: TestRelay;
let before: number;

const MINUTE = 60_000;
/** Two of the day's calls for strangers. */
const few = { limits: { perDay: 100 }, strangersShare: 0.02 };

async function start(issueToDefect: Parameters<typeof exampleConfig>[0] = {}, connection = {}): Promise<void> {
  relay = await startRelay({ config: exampleConfig(issueToDefect, { connection }) });
  before = relay.sandbox.requests;
}

const stranger = { author_association: 'NONE', user: { login: 'mallory', type: 'User' } };
const member = { ...stranger, author_association: 'MEMBER' };
const sentBy = (login: string) => ({ extra: { sender: { login } } });

let second = 0;
async function happens(action: string, issue: Fields = {}): Promise<void> {
  second++;
  expect((await relay.post('issues', issueEvent(action, { seconds: second, ...issue }))).status).toBe(202);
  await relay.work();
}
const requests = () => relay.sandbox.requests - before;
const titles = () => relay.sandbox.data.defects.map(({ title }) => title);

it('changes are combined for some time after each update, and the first is sent at once', async () => {
  await start({ foldSeconds: 120 });
  await happens('opened');
  await happens('edited', { title: 'first' });
  expect([requests(), titles()]).toEqual([2, expect.arrayContaining(['first'])]);
  for (let edit = 0; edit < 30; edit++) await happens('edited', { title: `edit ${edit}` });
  expect(requests()).toBe(2);
  await relay.workToTheEnd();
  expect([requests(), titles()]).toEqual([3, expect.arrayContaining(['edit 29'])]);
  relay.clock.now += 2 * MINUTE;
  await happens('edited', { title: 'later' });
  expect([requests(), titles()]).toEqual([4, expect.arrayContaining(['later'])]);
});

describe("strangers' changes", () => {
  const edits = async (issue: Fields, from: number) => {
    for (let id = from; id < from + 4; id++) await happens('opened', { id, title: `issue ${id}`, ...issue });
  };

  it('have their own share of the day, wait beyond it, and the operator learns who caused them', async () => {
    await start({}, few);
    await edits({ ...stranger, ...sentBy('mallory') }, 1);
    expect(requests()).toBe(2);
    expect(relay.log).toContainEqual(
      expect.objectContaining({
        message: 'the share of strangers is used up',
        connection: 'main',
        who: ['mallory'],
      }),
    );
    expect(relay.metrics).toContainEqual(expect.objectContaining({ Connection: 'main', StrangersWait: 1 }));
    const waiting = await relay.jobs('waiting');
    const midnight = Date.parse('2026-11-21T00:00:00Z');
    expect(waiting.map(({ dueAt }) => dueAt)).toEqual([midnight, midnight]);
    expect(await runRelayOf(relay, ['budget'])).toMatch(/^ *strangers: 2 of \d+ today, by @mallory$/m);
    const shown = () => runRelayOf(relay, ['job', waiting[0]?.id ?? '']);
    expect(await shown()).toMatch(/it waits until .* for /);
    relay.clock.now = midnight + 1;
    expect(await shown()).toMatch(/Nothing to do: it continues within a minute\./);
    await relay.workToTheEnd();
    expect(requests()).toBe(4);
    expect(relay.clock.now).toBeGreaterThanOrEqual(Date.parse('2026-11-21T00:00:00Z'));
  });

  it("the relay's own comments on strangers' issues do not count", async () => {
    relay = await startRelay({ config: exampleConfig({}, { connection: few }), github: { token: 'ghp_test' } });
    for (const number of [1, 2]) relay.github.issues.set(`Codertocat/Hello-World#${number}`, { number });
    before = relay.sandbox.requests;
    for (const id of [1, 2])
      await relay.post('issues', issueEvent('opened', { id, ...stranger, ...sentBy('mallory') }));
    await relay.work();
    expect([requests(), relay.github.comments.length]).toEqual([2, 2]);
    expect(await relay.jobs('waiting')).toEqual([]);
  });

  it.each([
    ['by a member', { ...member, ...sentBy('mallory') }],
    ["by somebody who may triage, on a stranger's issue", { ...stranger, ...sentBy('Codertocat') }],
  ])("a change does not use the strangers' share if it is caused %s", async (_, issue) => {
    await start({}, few);
    await edits({ ...stranger, ...sentBy('mallory') }, 1);
    await edits(issue, 11);
    expect(requests()).toBe(6);
  });

  it("a member's event creates a defect although a stranger's change waits for tomorrow", async () => {
    await start({}, few);
    await edits({ ...stranger, ...sentBy('mallory') }, 1);
    await happens('edited', { id: 4, title: 'triaged', ...stranger, ...sentBy('Codertocat') });
    expect(titles()).toContain('triaged');
  });

  it("a member's event takes over the claim of a stranger's job that waits for tomorrow", async () => {
    await start({}, few);
    await happens('opened', { id: 1, ...stranger, ...sentBy('mallory') });
    relay.sandbox.setFault({ kind: 'rate-limited', operation: '/defects/create', times: 1 });
    await happens('opened', { id: 2, ...stranger, ...sentBy('mallory') });
    await relay.pass(3 * MINUTE);
    expect(await relay.jobs('waiting')).toMatchObject([{ dueAt: Date.parse('2026-11-21T00:00:00Z') }]);
    await happens('edited', { id: 2, title: 'triaged', ...stranger, ...sentBy('Codertocat') });
    expect(titles()).toContain('triaged');
    await relay.workToTheEnd();
    expect(titles().filter((title) => title === 'triaged')).toHaveLength(1);
  });
});
