import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockKitFaults } from '../../local/slack/block-kit.ts';
import { renderView } from '../../local/slack/render.ts';
import type { SlackMessage } from '../../local/slack/workspace.ts';
import { buttonsOf, command, MIRA, press, pressLogRest, submit, TOMASZ } from '../slack-requests.ts';
import { EVERY_DAY, type TeamInput, teamInput, withTeams } from '../timesheets/team.ts';
import { DAY, DUE, mrkdwnOf, people, startFriday, type TeamRelay, tasks, timesheets, WEEK } from './timesheet-team.ts';

const { mira, tomasz } = people;
const { CART, CHECKOUT, LOGIN } = tasks;
const [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY] = WEEK;

let relay: TeamRelay;

const alone = (change: Partial<TeamInput> = {}) => timesheets({ people: [mira.email], ...change });

const message = () => relay.reminderOf(mira);

const pressAs = (userId: string, on: SlackMessage, label: string) =>
  press(relay, on, label, { userId, channelId: on.channel });
const logRest = () => pressAs(MIRA, message(), 'Log the rest');
/** The ids of the tasks that the form offers. */
function offered(): string[] {
  const input = relay.lastView().view.blocks.find(({ block_id }) => block_id === 'task');
  const { element } = (input ?? { element: {} }) as { element: { options?: { value: string }[] } };
  return (element.options ?? []).map(({ value }) => value);
}

const logged = () => relay.sandbox.data.timelogs.filter(({ note }) => note.includes('partner-relay'));

/** The line of that day in a reminder. */
const DAY_IS = '*Friday 20 November*:';
const WEEK_IS = '*The week up to that day*:';

describe('"Log the rest"', () => {
  it("the form proposes the day's missing time, and this week's tasks by name, latest first", async () => {
    relay = await startFriday(alone());
    relay.logs(mira, 8, { date: MONDAY, task: LOGIN.id });
    relay.logs(mira, 8, { date: TUESDAY, task: CART.id });
    relay.logs(mira, 8, { date: WEDNESDAY, task: LOGIN.id });
    relay.logs(mira, 2, { task: CHECKOUT.id });
    await relay.remind();
    expect(message()).toMatchObject({ channel: 'D0MIRA001', userId: MIRA });
    expect(mrkdwnOf(message())).toBe(
      ':clock4: Your timesheet is not complete.\n*Friday 20 November*: 2h of 6h30m, 4h30m missing\n*The week up to that day*: 26h of 38h30m, 12h30m missing',
    );
    expect(buttonsOf(message())).toEqual(['Log the rest', 'Mute today', 'Away until…']);
    const before = relay.sandbox.requests;
    expect((await logRest()).status).toBe(200);
    expect(relay.sandbox.requests).toBe(before);
    expect(relay.lastView().userId).toBe(MIRA);
    expect(renderView(relay.lastView())).toBe(
      [
        'Log time\n========\n',
        `Task: [ ${CHECKOUT.name} ▾ ] ${LOGIN.name}, ${CART.name}`,
        'Or another task (optional): [ Type to search ▾ ]\n  The list has tasks that Partner Relay has seen. For another one, type its id or whole name.',
        'How long: 4h30m\n  Such as 1h30m, 1.5h, 90m or 1:30.',
        'On which day (optional): [ 2026-11-20 ▾ ]\n  Leave it empty for today.',
        'Note (optional): ____\n',
        '[ Cancel ]  [ Log ]',
      ].join('\n'),
    );
  });

  it('the form asks for the task if none was used this week, and is for the last day with missing time', async () => {
    relay = await startFriday(alone());
    relay.logs(mira, 6.5, { task: '' });
    await relay.remind();
    expect(message().text).toBe('Your timesheet is missing 32h');
    await logRest();
    expect(renderView(relay.lastView())).toContain('Task: [ Type to search ▾ ]');
    expect(renderView(relay.lastView())).toContain('How long: 8h');
    expect(renderView(relay.lastView())).toContain(`[ ${THURSDAY} ▾ ]`);
    expect(renderView(relay.lastView())).not.toContain('another task');
    // The form stays open.
    expect(await submit(relay, relay.lastView(), {})).toEqual({ duration: 'Choose a task first.' });
    expect(await relay.outcomes('log-time')).toEqual([]);
  });

  it("a task's name is read once a month, unless the entries contain it", async () => {
    relay = await startFriday(alone());
    for (const [days, asked] of [
      [0, 1],
      [28, 1],
      [31, 2],
    ] as const) {
      relay.clock.now = DUE + days * DAY;
      const date = new Date(relay.clock.now).toISOString().slice(0, 10);
      relay.logs(mira, 1, { date });
      relay.logs(mira, 1, { date, task: 'T1', task_name: 'Named there' });
      await relay.remind();
      expect([days, relay.calls()['/tasks/detail']]).toEqual([days, asked]);
    }
    await pressAs(MIRA, relay.lastMessage(), 'Log the rest');
    expect(renderView(relay.lastView())).toContain(`Task: [ ${CHECKOUT.name} ▾ ] Named there\n`);
  });

  it("a person without entries this week is offered last week's tasks, by their ids if the service no longer knows them", async () => {
    relay = await startFriday(alone());
    relay.logs(mira, 1, { task: 'T-gone' });
    await relay.remind();
    relay.slack.messages.length = 0;
    relay.clock.now += 3 * DAY;
    await relay.remind();
    await logRest();
    expect(renderView(relay.lastView())).toContain('Task: [ T-gone ▾ ]');
  });

  it('the form opens with at most five tasks, as many as the button can hold', async () => {
    relay = await startFriday(alone({ hours: EVERY_DAY, remindOf: 'day' }));
    const anyName = fc.string({ unit: 'binary', minLength: 1, maxLength: 150 });
    const anyNames = fc.array(anyName, { minLength: 1, maxLength: 6 });
    const asJson = Array(5).fill('\u0001'.repeat(150));
    await fc.assert(
      fc.asyncProperty(anyNames, async (names) => {
        relay.slack.messages.length = 0;
        relay.sandbox.data.timelogs.length = 0;
        relay.clock.now += DAY;
        const date = new Date(relay.clock.now).toISOString().slice(0, 10);
        const ids = names.map((_, index) => `${date} ${index}`);
        for (const [index, task_name] of names.entries())
          relay.logs(mira, 0.1, { date, task: ids[index] ?? '', task_name });
        await relay.remind();
        const opened = relay.slack.views.length;
        await logRest();
        expect(relay.slack.views).toHaveLength(opened + 1);
        expect(offered()).toEqual(ids.slice(0, names === asJson ? 4 : 5));
      }),
      { numRuns: 3, examples: [[asJson], [Array(6).fill('long '.repeat(100))]] },
    );
  });

  const byName = { 'find-task': 'text login with PASSKEYS' };
  it.each([
    ['another of the recent tasks, and less', { task: CART.id, duration: '1:15' }, CART, 1.25, FRIDAY],
    ['another task by its name and day', { ...byName, date: THURSDAY }, LOGIN, 4.5, THURSDAY],
  ])('the form logs %s, for the person who pressed the button', async (_, filled, task, hours, date) => {
    relay = await startFriday(alone({ remindOf: 'day' }));
    relay.logs(mira, 1, { date: THURSDAY, task: CART.id });
    relay.logs(mira, 2);
    await relay.remind();
    await logRest();
    expect(await submit(relay, relay.lastView(), { note: 'the rest', ...filled })).toEqual({});
    await relay.workToTheEnd();
    expect(logged()).toMatchObject([{ user_id: mira.userId, task_id: task.id, hours, date }]);
    expect(logged()[0]?.note).toMatch(/^the rest \[partner-relay [0-9a-f]+\]$/);
    // The reminder has already read the week.
    const day =
      date === FRIDAY ? 'today. That makes 3h15m of 6h30m today' : 'yesterday. That makes 5h30m of 8h yesterday';
    expect(relay.told().at(-1)).toContain(`on ${task.name} ${day}. Note: “the rest”`);
    expect(relay.lastMessage()).toMatchObject({ kind: 'message', userId: MIRA });
  });

  it.each([
    [12 * 3_600_000 - 1, 'How long: 4h30m'],
    [12 * 3_600_000, 'How long: ____'],
  ])('the button always proposes the day, and the amount for half a day: %i ms later', async (later, duration) => {
    relay = await startFriday(alone({ remindOf: 'day' }));
    relay.logs(mira, 2);
    await relay.remind();
    relay.clock.now += later;
    await logRest();
    expect(renderView(relay.lastView())).toContain(duration);
    expect(renderView(relay.lastView())).toContain('[ 2026-11-20 ▾ ]');
  });

  it("the form logs the proposed time on the team's connection, only for the person who submits it", async () => {
    const teams = [{ ...teamInput, connection: 'other', people: [mira.email] }];
    relay = await startFriday(withTeams(teams, { connections: { main: {}, other: {} } }));
    const wrong = { baseUrl: 'http://127.0.0.1:1', apiKey: 'pk_wrong', secretKey: 'sk_wrong' };
    relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, wrong);
    relay.logs(mira, 2);
    await relay.remind();
    await pressAs(TOMASZ, message(), 'Log the rest');
    expect(await submit(relay, relay.lastView(), {})).toEqual({});
    await relay.workToTheEnd();
    expect(logged()).toMatchObject([{ user_id: tomasz.userId, task_id: CHECKOUT.id, hours: 4.5, date: FRIDAY }]);
    expect(relay.lastMessage()).toMatchObject({ kind: 'message', userId: TOMASZ });
  });

  it.each([
    ['part of the rest', { duration: '1:30' }, [`${DAY_IS} 3h30m of 6h30m, 3h missing`, `${WEEK_IS} 3h30m`], 3],
    ['the whole rest', {}, [`${DAY_IS} 6h30m of 6h30m\n`, `${WEEK_IS} 6h30m`], 3],
    ['an earlier day', { date: MONDAY }, [`${DAY_IS} 2h of`, `${WEEK_IS} 6h30m`], 3],
    ['all of a short week', {}, [`:white_check_mark: Your timesheet is complete.\n${DAY_IS} 6h30m of 6h30m`], 0],
  ])('the reminder says what is missing now: %s', async (what, filled, shown, buttons) => {
    relay = await startFriday(alone(what === 'all of a short week' ? { hours: { fri: 6.5 } } : {}));
    relay.logs(mira, 2);
    await relay.remind();
    const sent = message();
    relay.clock.now += 60_000;
    await logRest();
    await submit(relay, relay.lastView(), filled);
    await relay.workToTheEnd();
    for (const part of shown) expect(mrkdwnOf(sent)).toContain(part);
    expect(buttonsOf(sent)).toHaveLength(buttons);
    expect(blockKitFaults(sent.blocks)).toEqual([]);
  });

  it('the reminder counts each command once, even if its change of the reminder fails', async () => {
    relay = await startFriday(alone());
    await relay.remind();
    relay.clock.now += 60_000;
    for (const kind of ['rate-limited', 'server-error', undefined] as const) {
      if (kind) relay.slack.fail({ method: 'chat.update', kind, when: 'before work' });
      await command(relay, `log 1h ${LOGIN.id}`, { userId: MIRA });
      await relay.workToTheEnd();
    }
    expect(mrkdwnOf(relay.reminders().get(mira.name)?.[0] ?? {})).toContain('3h of 6h30m, 3h30m missing');
    expect(await relay.outcomes('log-time')).toHaveLength(3);
    expect(logged()).toHaveLength(3);
  });

  it('the reminder counts an entry only once if it shows the entry before its job continues', async () => {
    relay = await startFriday(alone());
    relay.sandbox.setFault({ kind: 'server-error', operation: '/timelogs/detail', times: 1 });
    await command(relay, `log 1h ${LOGIN.id}`, { userId: MIRA });
    await relay.work();
    await relay.fire('due-schedules');
    await relay.work();
    expect(mrkdwnOf(message())).toContain('1h of 6h30m');
    await relay.workToTheEnd();
    expect(await relay.outcomes('log-time')).toEqual([expect.stringContaining('logged 1h')]);
    expect(mrkdwnOf(message())).toContain('1h of 6h30m');
  });

  it('the button works only with values from the relay', async () => {
    relay = await startFriday(alone());
    for (const value of ['', '{}', '{"connection":"main","date":"today","minutes":1,"tasks":[]}']) {
      const { status } = await pressLogRest(relay, {}, value);
      expect(status).toBe(400);
    }
    expect(relay.slack.views).toEqual([]);
  });
});
