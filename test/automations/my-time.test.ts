import { beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../../lib/state/table/keys.ts';
import { hashOf, linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { ask, MIRA, press, submit } from '../slack-requests.ts';
import { mrkdwnOf, people, startFriday, type TeamRelay, tasks, timesheets, WEEK } from './timesheet-team.ts';

const { mira, tomasz } = people;
const { CART, CHECKOUT, LOGIN } = tasks;
const [MONDAY, TUESDAY, WEDNESDAY, THURSDAY] = WEEK;

let relay: TeamRelay;
beforeEach(async () => {
  relay = await startFriday();
});

async function answerTo(text: string): Promise<string> {
  await ask(relay, text);
  return mrkdwnOf(relay.lastMessage());
}

function logSomeOfTheWeek(): void {
  relay.logs(mira, 8, { date: MONDAY, task: LOGIN.id });
  relay.logs(mira, 8, { date: TUESDAY, task: LOGIN.id });
  relay.logs(mira, 5, { date: THURSDAY, task: CART.id });
  relay.logs(mira, 1.5, { task: CHECKOUT.id });
  relay.logs(mira, 3, { task: LOGIN.id });
  relay.logs(mira, 1, { task: LOGIN.id });
  relay.logs(tomasz, 8, { task: LOGIN.id });
}

const TODAY = `*Friday 20 November*: 5h30m of 6h30m, 1h missing
• 4h \`${LOGIN.name}\`
• 1h30m \`${CHECKOUT.name}\`
*This week so far*: 26h30m of 38h30m, 12h missing`;

describe('the time that a person has logged', () => {
  it("today shows the day's tasks, its missing time, and the week", async () => {
    logSomeOfTheWeek();
    expect(await answerTo('today')).toBe(TODAY);
    expect(relay.lastMessage()).toMatchObject({ kind: 'ephemeral', userId: MIRA });
    expect(relay.calls()).toMatchObject({ '/timelogs/list': 1 });
  });

  it('today asks only for the names of the tasks that it shows or offers', async () => {
    for (let task = 0; task < 10; task++) relay.logs(mira, 0.5, { date: MONDAY, task: `unknown-${task}` });
    await answerTo('today');
    expect(relay.requestsTo('/tasks/detail')).toBe(5);
    for (let task = 0; task < 30; task++) relay.logs(mira, 0.5, { date: TUESDAY, task: `another-${task}` });
    await answerTo('week');
    expect(relay.requestsTo('/tasks/detail')).toBe(10);
  });

  it('week shows each day up to today, with a button for each day with missing time', async () => {
    logSomeOfTheWeek();
    expect(await answerTo('week')).toBe(
      [
        `*Monday 16 November*: 8h of 8h\n• 8h \`${LOGIN.name}\``,
        `*Tuesday 17 November*: 8h of 8h\n• 8h \`${LOGIN.name}\``,
        '*Wednesday 18 November*: 0h of 8h, 8h missing',
        `*Thursday 19 November*: 5h of 8h, 3h missing\n• 5h \`${CART.name}\``,
        TODAY,
      ].join('\n'),
    );
    await press(relay, relay.lastMessage(), 'Log the rest', { at: 1 });
    await submit(relay, relay.lastView(), {});
    await relay.workToTheEnd();
    // The earlier reading, and what the relay has logged since.
    expect(relay.told().at(-1)).toContain(
      'Logged 3h on Release checkout 2.4 yesterday. That makes 8h of 8h yesterday.',
    );
    expect(await answerTo('week')).toContain('*Thursday 19 November*: 8h of 8h');
  });

  it('week says which missing time other days make up for', async () => {
    relay.logs(mira, 13, { date: MONDAY, task: LOGIN.id });
    expect(await answerTo('week')).toContain('0h of 8h, 3h missing (5h covered by extra time on other days)');
  });

  it('the total in an answer comes from a reading at most ten minutes old, and counts no entry twice', async () => {
    logSomeOfTheWeek();
    const logMore = async () => (await ask(relay, 'log 30m Login with passkeys')).inTheEnd;
    expect(await logMore()).toContain('Login with passkeys today.');
    await ask(relay, 'today');
    expect(await logMore()).toContain('today. That makes 6h30m of 6h30m today.');
    expect(await logMore()).toContain('today. That makes 7h of 6h30m today.');
    const { inTheEnd } = await ask(relay, 'log 18h Login with passkeys');
    expect(inTheEnd).toBe(':warning: With this, today would have 25h: 7h are logged already.');
    relay.clock.now += 11 * 60_000;
    expect(await logMore()).toContain('Login with passkeys today.');
  });

  it('no time is missing on a day off, on a day away, and for a person without a team', async () => {
    relay = await startFriday(timesheets({ holidays: [WEDNESDAY] }));
    logSomeOfTheWeek();
    await relay.stores.table.put({ ...keys.awayOn('platform', THURSDAY, 'person'), userId: mira.userId });
    const week = await answerTo('week');
    expect(week).not.toContain('Wednesday');
    expect(week).toContain('*Thursday 19 November*: 5h logged, away');
    relay = await startFriday(timesheets({ people: [tomasz.email] }));
    logSomeOfTheWeek();
    expect(await answerTo('today')).toContain('*Friday 20 November*: 5h30m logged\n');
    expect((await ask(relay, 'log 1h Login with passkeys')).inTheEnd).toContain('today. That makes 6h30m today.');
  });

  it('a person with a linked account sees what their tool lists, and the key makes no call', async () => {
    const week = {
      tool: 'list_time',
      arguments: { from: '{from}', to: '{to}' },
      schema: hashOf('list_time'),
      ...{ rows: 'entries', date: 'day', hours: 'hours', text: 'task' },
    };
    const mcp = { accounts: 'required', commands: { ...sandboxCommands(), week } } as const;
    relay = await startFriday(timesheets({}, { connections: { main: { mcp } } }), {
      sandbox: { mcp: { enabled: true } },
    });
    logSomeOfTheWeek();
    await linkAccount(relay);
    expect(await answerTo('today')).toContain('*Friday 20 November*: 5h30m of 6h30m, 1h missing\n• 4h ');
    expect(relay.calls()['/timelogs/list']).toBeUndefined();
    expect((await relay.jobs()).map(({ outcome }) => outcome)).toEqual(['done']);
  });
});
