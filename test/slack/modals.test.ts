import type { ModalView } from '@slack/types';
import { beforeEach, describe, expect, it } from 'vitest';
import { foundBlocks } from '../../lib/platforms/slack/found.ts';
import { createKnownTasks } from '../../lib/platforms/slack/known-names.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { GENERAL, MIRA, NOBODY, PLATFORM, TOMASZ } from '../slack-people.ts';
import {
  type Asked,
  ask,
  buttonsOf,
  command,
  press,
  pressLogRest,
  readable,
  shortcut,
  submit,
  suggested,
} from '../slack-requests.ts';

let relay: TestRelay;
const start = async (options?: TestRelayOptions) => {
  relay = await startRelay(options);
};
beforeEach(() => start());

interface Option {
  text: { text: string };
  value: string;
}

/** The options of a list of the modal, and the chosen one. */
function list(view: ModalView, block: string): { options: Option[]; groups: string[]; chosen: string | undefined } {
  const input = view.blocks.find(({ block_id }) => block_id === block) as { element?: object } | undefined;
  if (!input) return { options: [], groups: [], chosen: undefined };
  const { options, option_groups, initial_option } = input.element as {
    options?: Option[];
    option_groups?: { label: Option['text']; options: Option[] }[];
    initial_option?: Option;
  };
  return {
    options: options ?? option_groups?.flatMap(({ options }) => options) ?? [],
    groups: option_groups?.map(({ label }) => label.text) ?? [],
    chosen: initial_option?.text.text,
  };
}

/** A person asks for the form of a defect, and its list has arrived. */
async function opened(text = 'defect', asked: Asked = {}) {
  await ask(relay, text, asked);
  return relay.lastView();
}

const entered = (view: ModalView, block: string) =>
  (view.blocks.find(({ block_id }) => block_id === block) as { element: { initial_value?: string } }).element
    .initial_value;
const projectsOf = (view: ModalView) => list(view, 'project').options.map(({ text }) => text.text);
const INPUT = ['Login fails & burns', 'Major'];
const PASSKEYS = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
const SEEDED = ['Company Website', 'Mobile App', 'Web Shop'];
const CONTACT = 'your Partner Relay administrator';
const defects = () => relay.sandbox.data.defects.slice(1);

function addProjects(count: number, name: (index: number) => string) {
  const [project = expect.fail('the seed has no project')] = relay.sandbox.data.projects;
  for (let index = 0; index < count; index++) {
    const project_id = `7a2c2d7e-3b58-4c0a-9d41-${String(index).padStart(12, '0')}`;
    relay.sandbox.data.projects.push({ ...project, project_id, name: name(index) });
  }
}

describe('the modal for a defect', () => {
  it('the defect form opens at once without a call to the service, and gets its list afterwards', async () => {
    expect(await command(relay, 'defect Login fails &amp; burns')).toMatchObject({ status: 200, body: '' });
    const shown = relay.lastView();
    expect(shown).toMatchObject({ userId: MIRA, replaced: [], view: { title: { text: 'Create a defect' } } });
    expect([entered(shown.view, 'title'), list(shown.view, 'severity').chosen]).toEqual(INPUT);
    expect(projectsOf(shown.view)).toEqual([]);
    expect(readable(shown.view.blocks)).toBe('The list of projects is being fetched…');
    expect(relay.sandbox.audit).toEqual([]);
    await relay.work();
    expect([entered(shown.view, 'title'), list(shown.view, 'severity').chosen]).toEqual(INPUT);
    expect(projectsOf(shown.view)).toEqual(SEEDED);
    expect(shown.replaced).toHaveLength(1);
    expect(relay.sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/projects/list']);
  });

  it('the defect form shows the stored list, and is updated if that is older than five minutes', async () => {
    await opened();
    addProjects(1, () => 'Another project');
    Object.assign(relay.sandbox.data.projects[1] ?? {}, { isactive: false });
    relay.clock.now += 5 * 60_000 - 1;
    await command(relay, 'defect');
    expect([projectsOf(relay.lastView().view), relay.queued()]).toEqual([SEEDED, 0]);
    relay.clock.now += 1;
    await command(relay, 'defect');
    expect(projectsOf(relay.lastView().view)).toEqual(SEEDED);
    await relay.work();
    expect(projectsOf(relay.lastView().view)).toEqual(['Another project', 'Company Website', 'Web Shop']);
  });

  it('a title that is too long goes into the description', async () => {
    const title = 'Login fails on Safari. '.repeat(20).trim();
    const { view } = await opened(`defect ${title}`);
    expect(title).toContain(entered(view, 'title'));
    expect(entered(view, 'description')).toBe(title);
  });

  it('the form says so if there is no project to choose', async () => {
    relay.sandbox.data.projects.length = 0;
    expect(readable((await opened()).view.blocks)).not.toContain('is being fetched');
    expect(await submit(relay, relay.lastView(), { title: 'Login fails' })).toEqual({
      title: `Partner Relay sees no projects. Ask ${CONTACT}.`,
    });
  });

  it('the form stays open with errors, creates the defect once, and reports it in a direct message', async () => {
    await opened();
    for (const title of ['', ' \t ']) {
      const faults = await submit(relay, relay.lastView(), { project: PROJECT, title });
      expect([faults, relay.queued()]).toEqual([{ title: 'A defect needs a title.' }, 0]);
    }
    const fields = { project: PROJECT, title: ' Login <!channel> fails ', type: 'Documentation', priority: 'Low' };
    for (const _ of ['once', 'and again']) {
      expect(await submit(relay, relay.lastView(), { ...fields, description: 'In *Safari*\nonly' })).toEqual({});
    }
    await relay.work();
    const [defect, ...others] = defects();
    expect(others).toEqual([]);
    expect(defect).toMatchObject({
      project_id: PROJECT,
      title: 'Login <!channel> fails',
      type: 'Documentation',
      priority: 'Low',
      severity: 'Major',
      description: expect.stringMatching(/^In \*Safari\*\nonly\n\n---\nCreated in Slack by @mira\n\[partner-relay /),
    });
    expect(relay.lastMessage()).toMatchObject({ kind: 'message', channel: `D${MIRA.slice(1)}`, userId: MIRA });
    expect(relay.told()).toEqual([`:white_check_mark: Created defect ${defect?.defect_id}: Login <!channel> fails.`]);
  });

  it('the form can be filled in before its list arrives, and submitted after', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', times: 1 });
    relay.slack.fail({ method: 'views.update', kind: 'server-error' });
    relay.slack.fail({ method: 'views.update', kind: 'rate-limited', retryAfterSeconds: 7 });
    await ask(relay, 'defect', { channelId: PLATFORM });
    expect(await submit(relay, relay.lastView(), { title: 'Login fails' })).toEqual({
      title: `The list of projects is still loading. Try again in a moment. If it does not come, ask ${CONTACT}.`,
    });
    await relay.workToTheEnd();
    expect(projectsOf(relay.lastView().view)).toEqual(SEEDED);
    expect(await submit(relay, relay.lastView(), { title: 'Login fails' })).toEqual({});
    await relay.work();
    expect(defects()).toMatchObject([{ title: 'Login fails', project_id: PROJECT }]);
  });

  it.each([
    ['was closed', () => relay.slack.views.splice(0)],
    ['was changed meanwhile', () => Object.assign(relay.lastView(), { hash: '1.another' })],
  ])('a form that %s is not updated, and its list is kept for the next one', async (_, happens) => {
    await command(relay, 'defect');
    happens();
    await relay.work();
    expect((await relay.jobs())[0]?.outcome).toBe('3 projects are known; the modal was closed already');
    await command(relay, 'defect');
    expect(projectsOf(relay.lastView().view)).toEqual(SEEDED);
  });
});

describe('a modal that cannot be opened', () => {
  const why = async () => (await command(relay, 'defect')).text;

  it.each([
    ['it took longer than Slack allows. Try again.', undefined],
    ["Slack limits Partner Relay's requests. Try again in 30 s.", { kind: 'rate-limited' }],
    [`Slack refused it (missing_scope). Tell ${CONTACT}.`, { kind: 'error', error: 'missing_scope' }],
  ] as const)('a form that cannot open is reported at once and makes no job: %s', async (said, failure) => {
    const triggerId = relay.slack.makeTriggerId(MIRA);
    if (failure) relay.slack.fail({ method: 'views.open', ...failure });
    else relay.clock.now += 3_001;
    const { text } = await command(relay, 'defect', { triggerId });
    expect(text).toBe(`:warning: The form could not be opened: ${said}`);
    expect(relay.queued()).toBe(0);
    expect(await why()).toBe('');
    expect(relay.slack.views).toHaveLength(1);
  });

  it('a form opens with a rotated token', async () => {
    await start({ slack: { signingSecret: '8f742231b10e8888abcd99yyyzzz85a5', botToken: 'xoxb-of-last-year' } });
    expect(await why()).toContain('because Slack refused the question (invalid_auth)');
    relay.clock.now += 60_000;
    const good = { signingSecret: '8f742231b10e8888abcd99yyyzzz85a5', botToken: 'xoxb-of-the-tests' };
    relay.stack.secrets.put(`${relay.stack.secretPrefix}slack`, good);
    expect(await why()).toBe('');
  });
});

const SAID = ':warning: Slack did not confirm that the form opened. If you do not see it, try again.';

it.each([
  ['cut', 'after work', 1],
  ['server-error', 'after work', 1],
  ['empty', 'after work', 1],
  ['cut', 'before work', 0],
] as const)('a form gets its list if Slack does not say whether it opened: %s %s', async (kind, when, opened) => {
  relay.slack.fail({ method: 'views.open', kind, when });
  expect((await command(relay, 'defect Login fails')).text).toBe(SAID);
  await relay.work();
  expect(relay.slack.views).toHaveLength(opened);
  for (const { view } of relay.slack.views) {
    expect(projectsOf(view)).toEqual(SEEDED);
    expect(entered(view, 'title')).toBe('Login fails');
  }
  expect(await relay.jobs('parked')).toEqual([]);
  expect((await command(relay, 'defect Login fails')).text).toBe('');
  expect(projectsOf(relay.lastView().view)).toEqual(SEEDED);
});

it('a time form sent twice logs time once, and a change in the second is reported', async () => {
  const BEFORE =
    'You already sent this form, and Partner Relay carries out what you entered first. To change it, use the service.';
  await ask(relay, 'find passkeys');
  await press(relay, relay.lastMessage(), 'Log time');
  expect(await submit(relay, relay.lastView(), { duration: '1h' })).toEqual({});
  expect(await submit(relay, relay.lastView(), { duration: '60m' })).toEqual({});
  expect(await submit(relay, relay.lastView(), { duration: '2h' })).toEqual({ duration: BEFORE });
  await relay.work();
  expect(await submit(relay, relay.lastView(), { duration: '3h' })).toEqual({ duration: BEFORE });
  await relay.work();
  expect(relay.timelogs()).toMatchObject([{ hours: 1 }]);
});

describe('many projects, or long names', () => {
  it('many projects are offered in groups of a hundred', async () => {
    addProjects(247, (index) => `Project ${String(index).padStart(3, '0')}`);
    const { view } = await opened('defect', { channelId: PLATFORM });
    // The channel's project is chosen.
    const { options, groups, chosen } = list(view, 'project');
    expect(options).toHaveLength(250);
    expect(new Set(options.map(({ value }) => value)).size).toBe(250);
    expect(groups).toEqual(['Company Webs – Project 097', 'Project 098 – Project 197', 'Project 198 – Web Shop']);
    expect(chosen).toBe('Web Shop');
    const [first] = options;
    await submit(relay, relay.lastView(), { project: first?.value ?? '', title: 'Login fails' });
    await relay.work();
    expect(defects()).toMatchObject([{ project_id: first?.value }]);
  });

  it.each([
    [97, []],
    [98, ['Company Webs – Web 97', 'Web Shop – Web Shop']],
  ])('are offered as one list up to a hundred: %i and three', async (count, groups) => {
    addProjects(count, (index) => `Web ${String(index).padStart(2, '0')}`);
    expect(list((await opened()).view, 'project')).toMatchObject({ groups, options: { length: count + 3 } });
  });

  it.each([
    ['names of signs and emoji', 150, '<&>"\\\n🦆'],
    ['2,000 long names beyond ASCII', 2_000, 'проект'],
  ])('names never make the form invalid: %s', async (_, count, part) => {
    addProjects(count, (index) => `${index} ${part.repeat(500)}`.slice(0, 500));
    const offered = (view: ModalView) => {
      const names = projectsOf(view);
      // Slack refuses a message with half a character.
      expect(names.every((name) => name.isWellFormed())).toBe(true);
      return names.length;
    };
    expect(offered((await opened()).view)).toBeGreaterThan(100);
    expect(await command(relay, 'defect')).toMatchObject({ body: '' });
    expect(relay.slack.views).toHaveLength(2);
    expect(offered(relay.lastView().view)).toBeGreaterThan(100);
  });
});

describe('the shortcut of a message', () => {
  it('opens the form with the message text, and the defect keeps its link', async () => {
    await shortcut(relay, 'Login fails &amp; burns, says <@U0TOMASZ1|tomasz>\nsee <https://example.com/1|the cart>');
    await relay.work();
    const { view } = relay.lastView();
    expect(entered(view, 'title')).toBe('Login fails & burns, says tomasz');
    expect(entered(view, 'description')).toBe('Login fails & burns, says tomasz\nsee the cart (https://example.com/1)');
    await submit(relay, relay.lastView(), { project: PROJECT });
    await relay.work();
    expect(defects()[0]?.description).toMatch(
      /see the cart \(https:\/\/example\.com\/1\)\n\n---\nCreated in Slack by @mira, from https:\/\/example\.slack\.com\/archives\/C0GENERAL\/p1763632800000100\n/,
    );
  });

  it.each([
    ['3,000 characters', 'x'.repeat(3_000)],
    ['40,000 characters', 'A long story. '.repeat(2_860)],
    ['emoji where it is cut', `${'x'.repeat(254)}🦆${'x'.repeat(2_644)}🦆🦆${'x'.repeat(200)}`],
    ['a blank first line', '\n\nLogin fails'],
  ])('the form accepts every message, and says where it is cut: %s', async (_, text) => {
    expect(await shortcut(relay, text)).toMatchObject({ status: 200, body: '' });
    const { view } = relay.lastView();
    const [title = '', description = ''] = [entered(view, 'title'), entered(view, 'description')];
    const [kept = '', note] = description.split('\n[Cut here: ');
    expect([title, kept].every((part) => part.isWellFormed())).toBe(true);
    expect(text.startsWith(title) && text.startsWith(kept)).toBe(true);
    expect(kept.length).toBeGreaterThanOrEqual(Math.min(text.length, 2_850));
    expect(note).toBe(
      text.length > 3_000 ? 'a form holds 3,000 characters. The defect has a link to the whole message.]' : undefined,
    );
    expect(title.length).toBeGreaterThanOrEqual(Math.min((text.split('\n')[0] ?? '').length, 250));
  });

  const URL = 'https://example.com';
  it.each<[string, object, string]>([
    ['nothing that can be read', { text: '' }, '[The message has no text. See the link.]'],
    ['no text at all', { text: null }, '[The message has no text. See the link.]'],
    ['an alert', { text: '', attachments: [{ title: 'Disk', text: '&lt;db-1&gt;', fallback: 'x' }] }, 'Disk\n<db-1>'],
    ['an attachment with a fallback only', { text: '', attachments: [{ fallback: 'Disk full' }] }, 'Disk full'],
    ['what was forwarded', { text: 'Look', attachments: [{ is_share: true, from_url: URL, text: 'A' }] }, 'Look\nA'],
    ['the preview of a link', { text: URL, attachments: [{ from_url: URL, text: 'An example' }] }, URL],
    ['a file', { text: 'Look', files: [{ title: 'Cart' }, {}] }, 'Look\n[File: Cart]\n[File: without a name]'],
  ])('the shortcut fills the form from the message: %s', async (_, message, description) => {
    await shortcut(relay, message);
    expect(entered(relay.lastView().view, 'description')).toBe(description);
  });
});

describe('the modal to log time', () => {
  const outcome = () => readable(relay.lastMessage().blocks);

  it("a task's button opens the time form for the person who pressed it", async () => {
    await ask(relay, 'find passkeys', { userId: TOMASZ });
    await press(relay, relay.lastMessage(), 'Log time', { userId: TOMASZ });
    expect(readable(relay.lastView().view.blocks)).toBe('On Login with passkeys');
    for (const [duration, fault] of [
      ['1h99m', '“1h99m” has too many minutes. Did you mean 99m or 2h39m?'],
      ['0', expect.stringMatching(/^“0” is too short/)],
      ['', expect.stringMatching(/is not a duration such as/)],
    ]) {
      const faults = await submit(relay, relay.lastView(), { duration });
      expect([faults, relay.queued()]).toEqual([{ duration: fault }, 0]);
    }
    const filled = { duration: '1,5 h', date: '2026-11-18', note: 'wrote tests' };
    expect(await submit(relay, relay.lastView(), filled)).toEqual({});
    await relay.work();
    const [task_id, user_id] = [PASSKEYS, 'b0d3a1c4-52e7-4f86-8a19-3c6d9e0f2a03'];
    const note = expect.stringMatching(/^wrote tests \[/);
    expect(relay.timelogs()).toMatchObject([{ task_id, user_id, hours: 1.5, date: '2026-11-18', note }]);
    expect(relay.lastMessage()).toMatchObject({ kind: 'message', userId: TOMASZ });
    expect(outcome()).toBe(
      ':white_check_mark: Logged 1h30m on Login with passkeys on 2026-11-18. Note: “wrote tests”.',
    );
  });

  describe('the list of tasks', () => {
    const putTasks = () => relay.stores.table.get(keys.knownTasks('main'));
    const opened = async () => {
      await ask(relay, 'find passkeys', { channelId: PLATFORM });
      await pressLogRest(relay);
      return relay.lastView();
    };

    it('completes typed text without a call, by name or id, and accepts it unchanged, too', async () => {
      const view = await opened();
      const before = relay.sandbox.requests;
      const known = { [`id ${PASSKEYS}`]: 'Login with passkeys' };
      for (const typed of ['pass', 'LOGIN pas', PASSKEYS.slice(0, 36)]) {
        expect(await suggested(relay, view, typed)).toEqual({ ...known, [`text ${typed}`]: `“${typed}”, as typed` });
      }
      expect(await suggested(relay, view, 'x'.repeat(300))).toEqual({});
      expect(relay.sandbox.requests).toBe(before);
      await submit(relay, view, { duration: '1h', 'find-task': `id ${PASSKEYS}` });
      await relay.work();
      expect(outcome()).toContain('Logged 1h on Login with passkeys today.');
    });

    it.each<[string, Parameters<typeof exampleConfig>[1], Partial<Asked>]>([
      ['who may not log time', { slack: { permissions: { log: { userGroups: ['S0PLATFORM'] } } } }, { userId: NOBODY }],
      ['of another workspace', {}, { teamId: 'T0OTHER01' }],
      ['who is not known, where that is needed', { slack: { access: { knownOnly: true } } }, { userId: NOBODY }],
    ])('shows nothing to a person %s', async (_, config, asked) => {
      await start({ config: exampleConfig({}, config) });
      await relay.stores.table.put({ ...keys.person('slack', MIRA, 'main'), user: { userId: 'u', name: 'Mira' } });
      const view = await opened();
      expect(Object.keys(await suggested(relay, view, 'pass'))).toHaveLength(2);
      expect(await suggested(relay, view, 'pass', asked)).toEqual({});
    });

    it('is limited, written only if a task is new or renamed, and has the latest tasks first', async () => {
      const { table } = relay.stores;
      const tasks = createKnownTasks(table);
      const many = Array.from({ length: 700 }, (_, index) => ({ id: index, name: `Task ${index} ${'ü'.repeat(300)}` }));
      await tasks.learn('main', many);
      const kept = await putTasks();
      expect(kept?.names).toHaveLength(500);
      expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(200_000);
      const puts: unknown[] = [];
      const counting = createKnownTasks({ ...table, put: async (item) => puts.push(item) > 0 });
      await counting.learn('main', many.slice(0, 3));
      expect(puts).toEqual([]);
      await tasks.learn('main', [{ id: 7, name: 'Renamed' }]);
      expect((await tasks.get('main'))[0]).toEqual({ id: '7', name: 'Renamed' });
      const view = await opened();
      const labels = Object.values(await suggested(relay, view, 'task'));
      expect([labels.length, Math.max(...labels.map(({ length }) => length))]).toEqual([100, 75]);
      // A search for each word in each name would take half a minute with this text.
      expect(await suggested(relay, view, 'task '.repeat(8_000))).toHaveProperty(['id 0']);
    });
  });

  it('a form that cannot open from a button or a shortcut is reported to the person, and the message stays', async () => {
    await ask(relay, 'find passkeys');
    const [found] = relay.told();
    relay.slack.fail({ method: 'views.open', kind: 'rate-limited' });
    await press(relay, relay.lastMessage(), 'Log time');
    relay.slack.fail({ method: 'views.open', kind: 'rate-limited' });
    expect(await shortcut(relay, 'Login fails')).toMatchObject({ status: 200, body: '' });
    expect(relay.lastMessage()).toMatchObject({ kind: 'ephemeral', userId: MIRA });
    const refused = expect.stringMatching(
      /^:warning: The form could not be opened: Slack limits Partner Relay's requests/,
    );
    expect(relay.told()).toEqual([found, refused, refused]);
  });

  it('the time form is offered and opens where time may be logged, also from a direct message', async () => {
    await start({ config: exampleConfig({}, { slack: { permissions: { log: { channels: [PLATFORM] } } } }) });
    await ask(relay, 'find shop');
    const found = relay.lastMessage();
    expect(buttonsOf(found)).toEqual([]);
    for (const channelId of [GENERAL, PLATFORM]) {
      found.blocks = foundBlocks('shop', { connection: 'main', channelId }, [{ id: 't', name: 'Task' }], []);
      await press(relay, found, 'Log time', { channelId: 'D0MIRA001' });
      if (channelId === GENERAL) expect(outcome()).toBe(':warning: /pm log can be used in <#C0PLATFORM> only.');
    }
    expect(relay.slack.views).toHaveLength(1);
  });

  it('the commands that a text may mean are offered in a direct message, too, and not refused there', async () => {
    await start({ config: exampleConfig({}, { slack: { permissions: { log: { channels: [PLATFORM] } } } }) });
    await ask(relay, 'log 1h Login with pass', { channelId: PLATFORM });
    await press(relay, relay.lastMessage(), 'Log 1h on Login with passkeys', { channelId: 'D0MIRA001' });
    await relay.work();
    expect(outcome()).toContain('Logged 1h on Login with passkeys');
  });
});
