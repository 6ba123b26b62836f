import { beforeEach, describe, expect, it } from 'vitest';
import { MOST_UNDER_WAY } from '../../lib/people/turns.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { commentPayload } from '../kill/github-payloads.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, MIRA, press, submit, TOMASZ } from '../slack-requests.ts';

const TOO_MANY =
  'You have 10 unfinished requests, the maximum. Try again when one is done. /pm status shows five of them.';
const PER_MINUTE = 40;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perMinute: PER_MINUTE } } }) });
});

let searches = 0;
const search = (userId: string) => command(relay, `find number ${++searches}`, { userId });
const jobsOf = async (userId: string) => (await relay.jobs()).filter(({ entity }) => entity === `slack-${userId}`);

describe('a person who gives many commands', () => {
  it('an eleventh unfinished job is refused until one ends', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, () => search(MIRA)));
    const refused = answers.filter(({ text }) => text === `:warning: ${TOO_MANY}`);
    // The relay may refuse simultaneous commands for lack of a turn, but never accepts too many.
    expect(refused.length).toBeGreaterThanOrEqual(5);
    while ((await jobsOf(MIRA)).length < MOST_UNDER_WAY) await search(MIRA);
    expect((await search(MIRA)).text).toContain(TOO_MANY);
    expect((await search(TOMASZ)).text).toContain('Working on it');
    await relay.workToTheEnd();
    expect((await search(MIRA)).text).toContain('Working on it');
    expect(await jobsOf(MIRA)).toHaveLength(MOST_UNDER_WAY + 1);
  });

  it('an eleventh job is refused in a form, which stays open, and in the answer to a button', async () => {
    await ask(relay, 'defect', { userId: MIRA });
    for (let count = 0; count < MOST_UNDER_WAY; count++) await search(MIRA);
    const filled = { project: PROJECT, title: 'Login fails' };
    expect(await submit(relay, relay.lastView(), filled)).toEqual({ title: TOO_MANY });
    const suggestion = await command(relay, 'dnoe 101', { userId: MIRA });
    await press(relay, suggestion, 'Run /pm done 101', { userId: MIRA });
    expect(relay.told().at(-1)).toContain(TOO_MANY);
  });

  it('may ask again after the note of the last command has expired', async () => {
    await search(MIRA);
    await relay.workToTheEnd();
    relay.clock.now += 31 * 86_400_000;
    expect((await search(MIRA)).text).toContain('Working on it');
  });
});

it.each(['in Slack', 'in a comment'])(
  'a command %s that was carried out stays carried out in a redelivery',
  async (where) => {
    const triggerId = relay.slack.makeTriggerId(MIRA);
    const comment = commentPayload(1, '/done 101');
    const give = () =>
      where === 'in Slack' ? command(relay, 'done 101', { triggerId }) : relay.post('issue_comment', comment);
    await give();
    await relay.workToTheEnd();
    for (let id = 2; id <= MOST_UNDER_WAY + 1; id++) {
      if (where === 'in Slack') await search(MIRA);
      else await relay.post('issue_comment', commentPayload(id, `/done ${100 + id}`));
    }
    const before = (await relay.jobs()).length;
    expect(before).toBe(MOST_UNDER_WAY + 1);
    const again = await give();
    expect(again).toMatchObject(
      where === 'in Slack' ? { text: expect.stringContaining('Working on it') } : { answer: { repeat: true } },
    );
    expect(await relay.jobs()).toHaveLength(before);
  },
);

it('no finished command is refused if all are repeated', async () => {
  const triggers = Array.from({ length: 30 }, () => relay.slack.makeTriggerId(MIRA));
  const give = (triggerId: string, id: number) => command(relay, `find number ${id}`, { triggerId });
  for (const [id, triggerId] of triggers.entries()) {
    await give(triggerId, id);
    if (id % 5 === 4) await relay.workToTheEnd();
  }
  relay.clock.now += 61_000;
  const answers = await Promise.all(triggers.map(give));
  expect(answers.filter(({ text }) => !text.includes('Working on it'))).toEqual([]);
  expect(await relay.jobs()).toHaveLength(triggers.length);
});

it('a repeat of a command that was carried out takes no turn', async () => {
  const triggerId = relay.slack.makeTriggerId(MIRA);
  await command(relay, 'find login', { triggerId });
  await relay.workToTheEnd();
  relay.clock.now += 61_000;
  await search(MIRA);
  await relay.workToTheEnd();
  relay.clock.now += 61_000;
  await command(relay, 'find login', { triggerId });
  await search(MIRA);
  expect((await jobsOf(MIRA)).map(({ lane }) => lane)).toEqual(['interactive', 'interactive', 'interactive']);
});

it.each<[string, readonly unknown[]]>([
  ['noted', ['x', null, [null], [{ id: '', at: 0 }], [{ id: 'x', at: -1 }], [{ id: 'x' }]]],
  ['asked', ['x', null, 5, [null], [5], ['']]],
  ['lastAt', ['x', -1, 9e15]],
  ['version', ['x', -1, 0.5, 1e300, undefined]],
])('no stored value of %s stops a person', async (attribute, values) => {
  for (const value of values) {
    relay.clock.now += 120_000;
    const item = { ...keys.turns('slack', MIRA), noted: [], asked: [], lastAt: 0, version: 3 };
    await relay.stores.table.put({ ...item, [attribute]: value });
    expect((await command(relay, 'status')).text).toContain('You have not asked for anything yet.');
    expect((await command(relay, 'done 101')).text).toContain('Working on it');
  }
});

describe('people who share the budget', () => {
  it("first commands come before another person's further commands, which take turns", async () => {
    // One person uses all slots for a person's further commands.
    for (let count = 0; count < PER_MINUTE; count++) {
      await search(MIRA);
      await relay.work();
    }
    const waiting = async () => (await relay.jobs('waiting')).map(({ entity }) => entity);
    expect(new Set(await waiting())).toEqual(new Set([`slack-${MIRA}`]));
    const before = relay.sandbox.requests;
    await ask(relay, 'done 101', { userId: TOMASZ });
    expect(relay.sandbox.requests).toBe(before + 1);
    for (const id of [102, 103]) await command(relay, `done ${id}`, { userId: TOMASZ });
    await relay.work();
    expect((await relay.jobs('waiting')).filter(({ lane }) => lane !== 'further')).toEqual([]);
    await relay.workToTheEnd();
    const done = (await relay.jobs('succeeded')).toSorted((a, b) => a.wakeAt - b.wakeAt);
    const order = done.map(({ entity }) => entity).slice(-(MOST_UNDER_WAY + 2));
    // Tomasz asked last, and his two commands wait for at most two of Mira's.
    expect(order.lastIndexOf(`slack-${TOMASZ}`)).toBeLessThan(6);
  });

  it("a person's command is first again after a quiet minute without waiting jobs", async () => {
    const lanes = async () => (await jobsOf(MIRA)).map(({ lane }) => lane);
    await search(MIRA);
    relay.clock.now += 1_000;
    await search(MIRA);
    relay.clock.now += 60_000;
    await search(MIRA);
    expect(await lanes()).toEqual(['interactive', 'further', 'further']);
    await relay.workToTheEnd();
    relay.clock.now += 60_000;
    await search(MIRA);
    expect((await lanes()).at(-1)).toBe('interactive');
  });
});
