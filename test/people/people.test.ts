import { beforeEach, describe, expect, it } from 'vitest';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { exampleConfig, SIGNING_SECRET, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { ask, command, MIRA, NOBODY, TOMASZ } from '../slack-requests.ts';
import { workWith } from './changed-config.ts';

const CONTACT = 'the platform team';
const NO_ACCOUNT = `No user of the service has your e-mail address. If your account there has another address, tell it to ${CONTACT}. If you have no account, ask for one.`;
const ASK = `Ask ${CONTACT} to add you to Partner Relay.`;
const LUCAS = 'lucas.pereira@example.com';
const AISHA = 'aisha.rahman@example.com';

let relay: TestRelay;
const start = async (people: RelayConfig['people'] = [], options: TestRelayOptions = {}) => {
  const { config = exampleConfig() } = options;
  relay = await startRelay({ ...options, config: { ...config, contact: CONTACT, people } });
};
beforeEach(() => start());

const twin = { user_id: '2nd', name: 'Mira N.', email: 'MIRA.NOVAK@example.com' };
const addTwin = () => relay.sandbox.data.users.push(twin);
const hideAddress = () => delete relay.slack.users.get(MIRA)?.email;
const NOT_SHOWN = 'Partner Relay matches people by e-mail address, but Slack does not show yours.';

let count = 0;
/** A new command, because the relay asks before it repeats one. */
const log = () => `log 1h “Release checkout 2.4” ${++count}`;
const mapped = (email: string, timeZone = 'UTC') => ({ slack: NOBODY, email, timeZone });
/** The name in the service of the person for whom the last entry was logged. */
const loggedFor = () => {
  const entry = relay.timelogs().at(-1);
  return relay.sandbox.data.users.find(({ user_id }) => user_id === entry?.user_id)?.name;
};
const dayLogged = () => relay.sandbox.data.timelogs.at(-1)?.date;

/** Adds other users to the beginning of the service's list. */
function addStrangers(length: number): void {
  const stranger = (_: unknown, index: number) => ({
    user_id: `6f1c2d7e-3b58-4c0a-9d41-${String(index).padStart(12, '0')}`,
    name: '名前'.repeat(30),
    email: `stranger-${index}@example.com`,
  });
  relay.sandbox.data.users.unshift(...Array.from({ length }, stranger));
}

describe('a person in Slack', () => {
  it.each([
    ['by their e-mail address', MIRA, [], 'Mira Novak'],
    ['by the map, where the address is another', NOBODY, [mapped(LUCAS)], 'Lucas Pereira'],
    ['by the map, whatever their address', MIRA, [{ ...mapped(LUCAS), slack: MIRA }], 'Lucas Pereira'],
  ])('a person is found %s', async (_, userId, people, name) => {
    await start(people);
    await ask(relay, log(), { userId });
    expect(loggedFor()).toBe(name);
    expect(dayLogged()).toBe('2026-11-20');
  });

  it('a person is found in any letter case among more users than an item holds, and the list is read once', async () => {
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { email: 'Mira.NOVAK@example.com' });
    addStrangers(5_200);
    const pages = Math.ceil(relay.sandbox.data.users.length / 100);
    for (const userId of [MIRA, NOBODY, TOMASZ, NOBODY]) {
      await ask(relay, log(), { userId });
      expect(relay.requestsTo('/users/list')).toBe(pages);
      relay.clock.now += 10 * 60_000;
    }
    const [found, unknown] = [/ Logged 1h on /, /^:warning: log .*\nNo user of the service has your e-mail address/];
    expect(relay.told()).toEqual([found, unknown, found, unknown].map((said) => expect.stringMatching(said)));
    expect(loggedFor()).toBe('Tomasz Zielinski');
  });

  it.each([
    ['that the service does not know', NOBODY, () => {}, NO_ACCOUNT],
    [
      'with a mapped address that the service does not know',
      NOBODY,
      () => relay.runtime.config.people.push(mapped('ada@example.org')),
      `No user of the service has the e-mail address that Partner Relay has for you. Ask ${CONTACT} to correct it.`,
    ],
    ['whose address two users have', MIRA, addTwin, `2 users of the service have your e-mail address. ${ASK}`],
    ['whose address Slack does not tell', MIRA, hideAddress, `${NOT_SHOWN} ${ASK}`],
  ])('%s reads so, and whom to ask', async (_, userId, prepare, said) => {
    prepare();
    expect((await ask(relay, log(), { userId })).inTheEnd).toMatch(
      new RegExp(`^:warning: log .*\\n${RegExp.escape(said)}$`),
    );
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it.each([
    ['a bot', { is_bot: true }],
    ['somebody who has not confirmed it', { is_email_confirmed: false }],
    ['of another workspace', { team_id: 'T0ELSEWHERE', is_stranger: false }],
    ['of another organization', { team_id: 'T0ELSEWHERE', enterprise_id: 'E0ELSEWHERE' }],
  ])("a person's address is not trusted if they are %s", async (_, change) => {
    await start([], { config: exampleConfig({}, { slack: { access: { strangers: true } } }) });
    Object.assign(relay.slack.users.get(MIRA) ?? {}, change);
    expect((await ask(relay, log())).inTheEnd).toContain('Slack does not show yours');
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it('who has left since they asked does not count as the owner of their address', async () => {
    await command(relay, log());
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { deleted: true });
    await relay.workToTheEnd();
    expect((await relay.jobs()).map(({ outcome }) => outcome)).toEqual([
      expect.stringContaining('Slack does not show yours'),
    ]);
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it('who was not found, or found twice, is searched for again after ten minutes, and not before', async () => {
    addTwin();
    for (const userId of [MIRA, NOBODY]) await ask(relay, log(), { userId });
    expect(relay.requestsTo('/users/list')).toBe(1);
    relay.sandbox.data.users.pop();
    relay.sandbox.data.users.push({ ...twin, email: 'jonas.weber@example.org' });
    relay.clock.now += 10 * 60_000 - 1;
    for (const userId of [MIRA, NOBODY]) await ask(relay, log(), { userId });
    expect([relay.requestsTo('/users/list'), relay.sandbox.data.timelogs.length]).toEqual([1, 3]);
    relay.clock.now += 1;
    for (const userId of [MIRA, NOBODY]) await ask(relay, log(), { userId });
    expect([relay.requestsTo('/users/list'), relay.sandbox.data.timelogs.length]).toEqual([2, 5]);
  });

  it('a list is as old as its first page, however long the other pages took', async () => {
    addStrangers(130);
    // The second page takes two calls.
    relay.sandbox.setFault({ kind: 'server-error', operation: '/users/list', skip: 1, times: 1 });
    await ask(relay, log());
    relay.clock.now += 19 * 60_000;
    await relay.workToTheEnd();
    expect([relay.requestsTo('/users/list'), relay.sandbox.data.timelogs.length]).toEqual([3, 4]);
    relay.sandbox.data.users.push({ user_id: 'new', name: 'Jonas', email: 'jonas.weber@example.org' });
    relay.clock.now += 2 * 60_000;
    await ask(relay, log(), { userId: NOBODY });
    expect([relay.requestsTo('/users/list'), relay.sandbox.data.timelogs.length]).toEqual([5, 5]);
  });

  it.each([
    [{ tz: 'Asia/Kolkata', tz_offset: -12_600 }, '2026-11-21'],
    [{ tz: 'Mars/Olympus_Mons', tz_offset: 19_800 }, '2026-11-21'],
    [{ tz: 'Mars/Olympus_Mons', tz_offset: -12_600 }, '2026-11-20'],
    [{ tz: undefined, tz_offset: 19_800 }, '2026-11-21'],
    [{ tz: 'Mars/Olympus_Mons', tz_offset: undefined }, '2026-11-20'],
  ])("the day follows a person's zone, or Slack's offset if Node does not know the zone: %o", async (zone, date) => {
    Object.assign(relay.slack.users.get(MIRA) ?? {}, zone);
    relay.clock.now = Date.parse('2026-11-20T18:30:00Z');
    await ask(relay, log());
    expect([loggedFor(), dayLogged()]).toEqual(['Mira Novak', date]);
  });

  it('a person is found by the mapping without a Slack token', async () => {
    await start([mapped(LUCAS, 'Asia/Kolkata')], { slack: { signingSecret: SIGNING_SECRET } });
    relay.clock.now = Date.parse('2026-11-20T18:30:00Z');
    await ask(relay, log(), { userId: NOBODY });
    expect([loggedFor(), dayLogged()]).toEqual(['Lucas Pereira', '2026-11-21']);
  });

  it('a person is searched for later if Slack does not answer', async () => {
    await command(relay, 'help');
    relay.slack.fail({ method: 'users.info', kind: 'server-error' });
    relay.slack.fail({ method: 'users.info', kind: 'rate-limited', retryAfterSeconds: 40 });
    await command(relay, log());
    await relay.workToTheEnd();
    expect(loggedFor()).toBe('Mira Novak');
  });

  it('a match is kept for a day', async () => {
    for (const [later, listed] of [
      [0, 1],
      [1_000, 1],
      [86_398_000, 1],
      [1_000, 2],
    ] as const) {
      relay.clock.now += later;
      await ask(relay, log());
      expect([later, relay.requestsTo('/users/list')]).toEqual([later, listed]);
    }
    expect(relay.slack.calls.filter(({ method }) => method === 'users.info')).toHaveLength(4);
  });
});

it.each([
  ['an entry comes', [], [mapped(AISHA)], 'Aisha Rahman'],
  ['an entry has another address', [mapped(LUCAS)], [mapped(AISHA)], 'Aisha Rahman'],
  ['an entry goes', [mapped(LUCAS)], [], 'Mira Novak'],
])('a change of the mapping takes effect at once: %s', async (_, before, after, name) => {
  const people = before.map((entry) => ({ ...entry, slack: MIRA }));
  await start(people);
  await ask(relay, log());
  expect(loggedFor()).toBe(before.length > 0 ? 'Lucas Pereira' : 'Mira Novak');
  await command(relay, log());
  await workWith(relay, { people: after.map((entry) => ({ ...entry, slack: MIRA })) });
  expect(loggedFor()).toBe(name);
});

describe('a person on GitHub', () => {
  const writtenNow = () => {
    const now = new Date(relay.clock.now).toISOString();
    return { created_at: now, updated_at: now };
  };
  const comment = (body: string, id: number, login = 'Codertocat') =>
    relay.post('issue_comment', {
      action: 'created',
      comment: { id, body, author_association: 'OWNER', user: { login, type: 'User' }, ...writtenNow() },
      issue: { number: 1 },
      repository: { full_name: 'Codertocat/Hello-World' },
      sender: { login },
    });
  const line = () => `/${log().replaceAll(/[“”]/g, '"')}`;
  const codertocat = { github: 'codertocat', email: LUCAS, timeZone: 'Asia/Kolkata' };
  const outcome = async () => (await relay.jobs()).toSorted((a, b) => a.createdAt - b.createdAt).at(-1)?.outcome;

  it.each([
    [
      'the entry goes',
      [],
      /^Partner Relay does not know which user of the service @Codertocat is\. Ask the platform team/,
    ],
    ['the time zone is another', [{ ...codertocat, timeZone: 'UTC' }], /^logged 1h .*, 2026-11-20/],
    ['the address is another', [{ ...codertocat, email: AISHA }], /^logged 1h .*, 2026-11-21/],
  ])('a GitHub login in any letter case maps to another user at once if %s', async (_, after, said) => {
    await start([codertocat]);
    relay.clock.now = Date.parse('2026-11-20T18:30:00Z');
    await comment(line(), 1);
    await relay.work();
    relay.clock.now += 1_000;
    await comment(line(), 2);
    await workWith(relay, { people: after });
    expect(await outcome()).toMatch(said);
  });

  it('an answer on GitHub never shows an address', async () => {
    const config = exampleConfig();
    const nobody = { github: 'nobody', email: 'nobody@example.org', timeZone: 'UTC' };
    await start([codertocat, nobody], { config, github: { token: 'ghp_test' } });
    Object.assign(relay.sandbox.data.users.find(({ email }) => email === LUCAS) ?? {}, { name: null });
    for (const [index, login] of ['Codertocat', 'nobody', 'stranger'].entries()) {
      await comment(line(), index, login);
    }
    await relay.work();
    expect(relay.sandbox.data.timelogs).toHaveLength(4);
    expect(relay.github.comments).toHaveLength(3);
    for (const { body } of relay.github.comments) expect(body).not.toContain('@example.');
    for (const { outcome } of await relay.jobs()) expect(outcome).not.toContain('@example.');
    expect(relay.told()).toEqual([]);
  });
});
