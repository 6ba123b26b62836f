import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ourVerbs as verbs } from '../../lib/automations/verbs.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { mutate } from '../mutated-service.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { GENERAL, MIRA, NOBODY, PLATFORM, TOMASZ } from '../slack-people.ts';
import { ask, buttonsOf, command, press, pressLogRest, readable, shortcut, submit } from '../slack-requests.ts';

/** A person's second command within this time is a further one. */
const MINUTE_MS = 60_000;
/** A task of the sandbox's seed. */
const LOGIN = { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03', name: 'Login with passkeys' };
const CHECKOUT = { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', name: 'Release checkout 2.4' };
const WORKING = ':hourglass_flowing_sand: Working on it, understood as ';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

describe('a command', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  beforeEach(() => {
    relay.clock.now += MINUTE_MS;
  });

  it('a command is answered at once without a call to the service, and only its author sees the outcome', async () => {
    const answer = await command(relay, 'done 104', { channelId: PLATFORM });
    expect(JSON.parse(answer.body)).toMatchObject({ response_type: 'ephemeral' });
    expect(answer.text).toBe(`${WORKING}/pm done 104`);
    expect(relay.sandbox.requests).toBe(0);
    expect(await relay.jobs()).toMatchObject([{ lane: 'interactive', connection: 'main' }]);
    await relay.work();
    expect(relay.lastMessage()).toMatchObject({ kind: 'ephemeral', userId: MIRA, channel: PLATFORM });
    expect(relay.sandbox.requests).toBe(1);
  });

  const OF_A_TASK = `:warning: done ${CHECKOUT.id}\nTask ${CHECKOUT.id} is not a checklist item. The service shows the numbers of checklist items.`;
  const NONE = (id: number) => `There is no checklist item ${id}.`;
  it.each([
    ['done 101', ':white_check_mark: Completed checklist item 101.', [true, false, false]],
    // The toggle form would reopen the first item.
    ['DONE #101, 102 and 103', ':white_check_mark: Completed checklist items 101, 102 and 103.', [true, true, true]],
    ['undo 101 103', ':white_check_mark: Set checklist items 101 and 103 to open.', [false, true, false]],
    [
      'done 101 999 201',
      `:warning: Completed checklist item 101. ${NONE(999)} Checklist item 201: Partner Relay has no right to change this checklist; ask your Partner Relay administrator for it.`,
      [true, true, false],
    ],
    ['done 998 999', `:warning: done 998 999\n${NONE(998)} ${NONE(999)} Nothing was completed.`, [true, true, false]],
    [`done ${CHECKOUT.id}`, OF_A_TASK, [true, true, false]],
  ])('a command completes and reopens checklist items: %s', async (typed, inTheEnd, items) => {
    expect(await ask(relay, typed)).toEqual({ atOnce: expect.stringContaining(WORKING), inTheEnd });
    expect([101, 102, 103].map(relay.isCompleted)).toEqual(items);
    expect([201].map(relay.isCompleted)).toEqual([false]);
    expect(await relay.jobs('parked')).toEqual([]);
  });

  it("a command creates a defect in the channel's project", async () => {
    const typed = 'defect “Login fails” on Safari – &lt;again&gt; &amp; again';
    const { inTheEnd } = await ask(relay, typed, { channelId: PLATFORM });
    const defect = relay.sandbox.data.defects.at(-1);
    expect(defect).toMatchObject({
      project_id: PROJECT,
      title: '“Login fails” on Safari – <again> & again',
      type: 'Bug',
      priority: 'Medium',
      severity: 'Major',
      description: expect.stringMatching(/^---\nCreated in Slack by @mira\n\[partner-relay [0-9a-f]{20}\]$/),
    });
    expect(inTheEnd).toBe(
      `:white_check_mark: Created defect ${defect?.defect_id}: “Login fails” on Safari – <again> & again.`,
    );
  });

  it.each([
    ['keeps a title of 255 characters', 255, /^---/],
    ['cuts a longer title, which is whole in the description', 256, /^x{256}\n\n---/],
  ])('%s', async (_, length, description) => {
    await ask(relay, `defect ${'x'.repeat(length)}`, { channelId: PLATFORM });
    const title = length === 255 ? 'x'.repeat(255) : `${'x'.repeat(254)}…`;
    expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title, description: expect.stringMatching(description) });
    expect((await relay.jobs()).at(-1)?.summary).toMatch(/^\S+: defect x{192}…$/);
  });

  it('a command finds tasks and projects, and each task has a button to log time', async () => {
    const { inTheEnd } = await ask(relay, 'find the');
    const [tasks, projects] = [relay.sandbox.data.tasks, relay.sandbox.data.projects];
    const shown = [
      'Tasks',
      ...[tasks[1], tasks[4]].map((task) => `${task?.name}\n${task?.task_id}`),
      'Projects',
      ...projects.map(({ name, project_id }) => `${name}\n${project_id}`),
    ];
    expect(inTheEnd).toBe(shown.join('\n'));
    const buttons = relay.lastMessage().blocks?.filter((block) => 'accessory' in block && block.accessory);
    expect(buttons).toHaveLength(2);
  });

  it.each([
    ['“no such”', 'No task or project matches no such. Try another word, or only a part of it.'],
    [`#${LOGIN.id.toUpperCase()}`, `Tasks\n${LOGIN.name}\n${LOGIN.id}`],
    ['4711', 'No task or project matches 4711. Try another word, or only a part of it.'],
    ['lgoin', `No task or project matches lgoin. Did you mean:\n${LOGIN.name}\n${LOGIN.id}`],
    ['chekout', `No task or project matches chekout. Did you mean:\n${CHECKOUT.name}\n${CHECKOUT.id}`],
    ['pass keys', `No task or project matches pass keys. Did you mean:\n${LOGIN.name}\n${LOGIN.id}`],
  ])('a search finds a task by its id, and offers recent tasks for a typo: %s', async (text, found) => {
    await ask(relay, 'find passkeys');
    expect((await ask(relay, `find ${text}`)).inTheEnd).toBe(found);
  });

  it('the answer shows how a command is understood, as a command with the same meaning', async () => {
    const shown = '/pm log 1h "Login with passkeys" “"tuesday" 5" disk”';
    expect((await command(relay, 'log 1h "Login with passkeys" "tuesday" 5" disk')).text).toBe(WORKING + shown);
    expect((await command(relay, shown.slice(4))).text).toBe(WORKING + shown);
    await relay.work();
  });

  it("a person's commands run in order, and a search runs at once", async () => {
    for (const typed of ['done 101', 'log 1h 4711', 'defect Login fails', 'find login']) {
      await command(relay, typed, { userId: NOBODY, channelId: PLATFORM });
    }
    expect((await relay.jobs('queued')).map(({ entity, group = entity }) => group).toSorted()).toEqual([
      'slack-U0NOBODY1',
      'slack-U0NOBODY1',
      'slack-U0NOBODY1',
      'slack-U0NOBODY1-find',
    ]);
    await relay.work();
  });

  it.each([
    ['fly', ':warning: There is no command “fly”.', false],
    ['dnoe 101', ':warning: There is no command “dnoe”. Did you mean /pm done?\n/pm done 101', true],
    ['lgo 1h Login', ':warning: There is no command “lgo”. Did you mean /pm log?\n/pm log 1h "Login"', true],
    [
      'lgo 2h',
      ':warning: There is no command “lgo”. Did you mean /pm log? /pm log needs a task: /pm log <duration> [day] <task> [note], ',
      false,
    ],
    ['Login 2h', ':warning: There is no command “Login”. Did you mean /pm log?\n/pm log 2h "Login"', true],
    ['log 0h 4711', ':warning: “0h” is too short. The minimum is 1m.', false],
    ['log –2h 4711', ':warning: “-2h” is negative. Did you mean 2h?\n/pm log 2h 4711', true],
  ])('an invalid command is answered with a correction: %s', async (typed, answer, offered) => {
    const { text, blocks } = await command(relay, typed);
    expect(text.startsWith(answer)).toBe(true);
    expect(blocks.some(({ type }) => type === 'actions')).toBe(offered);
    expect(relay.queued()).toBe(0);
  });

  it('each possible command has a button, and each runs once', async () => {
    const answer = { blocks: (await command(relay, 'log 2 "Release checkout 2.4"')).blocks };
    const commands = ['2h', '2m'].map((duration) => `Run /pm log ${duration} "Release checkout 2.4"`);
    expect(buttonsOf(answer)).toEqual(commands);
    for (const label of [...commands, ...commands]) expect((await press(relay, answer, label)).status).toBe(200);
    await relay.work();
    await press(relay, answer, commands[0] ?? '');
    expect(relay.queued()).toBe(0);
    expect(relay.sandbox.data.timelogs.slice(-2).map(({ hours }) => hours)).toEqual([2, 0.0333]);
    expect(relay.told().filter((text) => /Logged 2[hm] on/.test(text))).toHaveLength(2);
  });
});

it('a waiting command repeats a refused call only once', async () => {
  relay = await startRelay({ config: exampleConfig({}, { connection: { limits: { perMinute: 1 } } }) });
  await ask(relay, 'done 998 999');
  // More than enough for two calls, one a minute.
  await relay.pass(12 * 60_000, 3 * 60_000);
  expect(relay.sandbox.requests).toBe(2);
  expect(relay.told().at(-1)).toContain('Nothing was completed.');
});

describe('help', () => {
  it('help is made from the verbs, is short, and makes no job', async () => {
    const config = exampleConfig({}, { slack: { command: '/pm-test' }, connection: { mcp: { accounts: 'offered' } } });
    relay = await startRelay({ config });
    for (const typed of ['', 'help', '?', 'HELP']) {
      const { text } = await command(relay, typed, { channelId: PLATFORM });
      for (const { usage, does } of verbs) expect(text).toContain(`/pm-test ${usage}  ${does}`);
      expect(text.split('\n').length).toBeLessThanOrEqual(verbs.length + 2);
    }
    expect(relay.queued()).toBe(0);
    expect(relay.sandbox.requests).toBe(0);
  });

  const required = { mcp: { accounts: 'required' as const } };
  const permissions = { defect: { channels: [PLATFORM] }, log: { userGroups: ['S0PLATFORM'] } };
  const offered = { connection: { mcp: { accounts: 'offered' as const } } };
  const stranger = { channelId: PLATFORM, userId: NOBODY };
  const ALL = 'defect task done undo relate log today week find';
  it.each([
    ['where no accounts are linked', {}, { channelId: PLATFORM }, `${ALL} status help`],
    ['for a channel without a project', {}, {}, `${ALL.replace('task ', '')} status help`],
    ['for a channel', { slack: { permissions } }, {}, 'done undo log today week find status help'],
    ['for a person', { slack: { permissions } }, stranger, 'defect task done undo relate find status help'],
    ['where accounts are offered', offered, { channelId: PLATFORM }, `${ALL} link unlink status help`],
    ['before a link that is required', { connection: required }, {}, 'link unlink status help'],
  ])('help lists what the person may use: %s', async (_, settings, asked, words) => {
    const listed = words.split(' ');
    relay = await startRelay({ config: exampleConfig({}, settings) });
    const { text } = await command(relay, 'help', asked);
    expect([...text.matchAll(/^\/pm (\w+).* {2}/gm)].map(([, verb]) => verb)).toEqual(listed);
    const [example] = text.match(/For example.*/) ?? [];
    const unknown = await command(relay, 'constructor', asked);
    expect(unknown.text).toBe(`:warning: There is no command “constructor”. There are: ${listed.join(', ')}.`);
    for (const { verb } of verbs) if (example?.includes(`/pm ${verb} `)) expect(listed).toContain(verb);
  });

  it('help lists everything while Slack does not say who is in a group', async () => {
    relay = await startRelay({ config: exampleConfig({}, { slack: { permissions } }) });
    relay.slack.userGroups.delete('S0PLATFORM');
    expect((await command(relay, 'help', { channelId: PLATFORM })).text).toContain('/pm log');
  });
});

it.each(['help log', 'help LOG'])('one command is explained: %s', async (typed) => {
  expect((await command(relay, typed)).text).toBe(
    '/pm log <duration> [day] <task> [note]  logs your time on a task. Square brackets mean optional.\nFor example /pm log 1h30m 4711 wrote tests, /pm log 1.5h yesterday 4711, /pm log 90m 2026-11-18 4711, /pm log 1:30 Checkout page wrote tests, /pm log 2h 4711 yesterday wrote tests',
  );
});

it.each(['log help', 'log --help', 'track ?'])('the usage of a command is shown: %s', async (typed) => {
  expect((await command(relay, typed)).text).toContain(
    '/pm log <duration> [day] <task> [note] logs your time on a task, for example /pm log 1h30m 4711 wrote tests',
  );
});

it("status shows the person's last five jobs and the budget", async () => {
  // People do not see the job that fills the form.
  await ask(relay, 'defect');
  expect((await command(relay, 'status')).text).toBe(
    'Your last requests\nYou have not asked for anything yet.\nCalls to the service\nNew requests run at once. Calls: 1 of 120 in the last minute, 1 of 5,000 in the last day.',
  );
  for (const typed of ['done 1', 'done 2', 'done 101', 'done 102', 'undo 103']) {
    await command(relay, typed);
    relay.clock.now += 1_000;
  }
  await ask(relay, 'done 104', { userId: TOMASZ });
  await command(relay, 'find &lt;b&gt;');
  const { text } = await command(relay, 'status');
  const shown = [
    'Your last requests',
    ':hourglass_flowing_sand: find <b>',
    'In progress.',
    ':white_check_mark: undo 103',
    'Set checklist item 103 to open.',
    ':white_check_mark: done 102',
    'Completed checklist item 102.',
    ':white_check_mark: done 101',
    'Completed checklist item 101.',
    ':warning: done 2',
    'There is no checklist item 2. Nothing was completed.',
    'Calls to the service',
    'New requests run at once. Calls: 9 of 120 in the last minute, 9 of 5,000 in the last day.',
  ];
  const places = shown.map((part) => text.indexOf(part));
  expect(places).toEqual(places.filter((place) => place >= 0).toSorted((a, b) => a - b));
  expect(text).not.toMatch(/done 1$|done 104/m);
  expect((await command(relay, 'status', { userId: NOBODY })).text).toContain('You have not asked for anything yet.');
});

it('status shows unfinished requests first, at most five', async () => {
  for (const id of [201, 202]) await command(relay, `done ${id}`);
  await ask(relay, 'find login');
  expect((await command(relay, 'status')).text).not.toMatch(/more$/m);
  for (let count = 0; count < 7; count++) await command(relay, 'done 103');
  expect((await command(relay, 'status')).text).toMatch(/(?:done 103\s+In progress\.\s+(?::\S+ )?){5}and 2 more/);
  await relay.work();
});

it.each([403, 422])('a search shows the found tasks if the search for projects is refused: %i', async (refused) => {
  await mutate(relay, { reads: (payload, path) => (path === 'projects/search' ? { refused } : payload) });
  expect((await ask(relay, 'find checkout')).inTheEnd).toMatch(
    /^Tasks\nRelease checkout 2.4\n.*\nThe service refuses to search projects\.$/,
  );
  expect(await relay.jobs('parked')).toEqual([]);
});

const short = /^:warning: .*\nThe service refuses this search\. tasks\/search: .*422: .*q: is too short/;
it.each([
  ['find ab', short],
  ['log 1h ab', short],
  ['log 1h “ab”', short],
  // Only the typed text is shown, because a person cannot correct the relay's other searches.
  ['log 1h Nothing like it', /No task has the name “Nothing like it”, or a name that begins with it/],
  ['log 1h Relaese checkout 2.4', /No task has the name “Relaese checkout 2.4”/],
])('a person whose search is shorter than a service accepts reads that: %s', async (text, said) => {
  await mutate(relay, {
    reads: (payload, path) =>
      path === 'tasks/search' && String(payload.q).length < 4
        ? { refused: 422, errors: { q: 'is too short' } }
        : payload,
  });
  await command(relay, text);
  await relay.workToTheEnd();
  expect(relay.told()).toEqual([expect.stringMatching(said)]);
  expect(await relay.jobs('parked')).toEqual([]);
});

it.each([
  ['2026-09-20', 61],
  ['2025-11-20', 365],
])('a date long ago is asked about before time is logged: %s', async (date, days) => {
  const before = relay.sandbox.data.timelogs.length;
  expect((await command(relay, 'log 8h 2026-09-21 4711')).text).toContain(WORKING);
  const answer = await command(relay, `log 8h ${date} “Release checkout 2.4”`);
  expect(answer.text).toBe(
    `:question: ${date} is ${days} days ago. Run /pm log 8h ${date} "Release checkout 2.4" anyway?`,
  );
  expect(relay.queued()).toBe(1);
  for (let times = 0; times < 2; times++) {
    await press(relay, answer, `Run /pm log 8h ${date} "Release checkout 2.4"`);
    await relay.work();
  }
  expect(relay.sandbox.data.timelogs.slice(before)).toMatchObject([{ date, hours: 8 }]);
});

it.each(['issue WEB-42', 'bug list', 'task 4711 2h', 'task "Fix the cart" assign to @x'])(
  'a title that may be an id or a wish is asked about: %s',
  async (typed) => {
    const asked = { channelId: PLATFORM };
    const answer = await command(relay, typed, asked);
    expect(answer.text).toMatch(
      /^:question: (?:This would create a \w+ called “.*”|All of this would be the title, .*)\. Run \/pm \w+ .* anyway\?$/,
    );
    expect(relay.queued()).toBe(0);
    await press(relay, answer, buttonsOf(answer)[0] ?? '', asked);
    await relay.work();
    expect(await relay.jobs('succeeded')).toMatchObject([{ automation: expect.stringMatching('^create-') }]);
  },
);

describe('permissions', () => {
  const permissions = {
    done: { channels: [PLATFORM, 'C0OTHER'] },
    log: { userGroups: ['S0PLATFORM', 'S0OTHER'] },
    defect: { channels: [PLATFORM], userGroups: ['S0PLATFORM'] },
  };
  beforeEach(async () => {
    const slack = { permissions, channels: { [PLATFORM]: { projectId: PROJECT }, [GENERAL]: { projectId: PROJECT } } };
    relay = await startRelay({ config: exampleConfig({}, { slack }) });
    relay.slack.userGroups.set('S0OTHER', ['U0AISHA01']);
  });

  it.each<[string, string, string, string?]>([
    ['done 101', MIRA, GENERAL, '/pm done can be used in <#C0PLATFORM>, <#C0OTHER> only.'],
    ['done 101', MIRA, PLATFORM],
    ['undo 101', MIRA, GENERAL, '/pm undo can be used in <#C0PLATFORM>, <#C0OTHER> only.'],
    ['undo 101', MIRA, PLATFORM],
    ['defect', MIRA, GENERAL, '/pm defect can be used in <#C0PLATFORM> only.'],
    ['defect', MIRA, PLATFORM],
    ['defect Login fails', MIRA, GENERAL, '/pm defect can be used in <#C0PLATFORM> only.'],
    [
      'defect Login fails',
      NOBODY,
      PLATFORM,
      'Only members of certain groups may use /pm defect; your Partner Relay administrator',
    ],
    ['defect Login fails', MIRA, PLATFORM],
    ['log 1h 4711', MIRA, GENERAL],
    ['log 1h 4711', 'U0AISHA01', GENERAL],
    [
      'log 1h 4711',
      NOBODY,
      GENERAL,
      'Only members of certain groups may use /pm log; your Partner Relay administrator can add you.',
    ],
  ])('permissions limit commands to channels and groups: %s by %s in %s', async (typed, userId, channelId, fault) => {
    const { text } = await command(relay, typed, { userId, channelId });
    if (fault) expect(text).toContain(`:warning: ${fault}`);
    else expect(text).not.toMatch(/Only members|can be used/);
    expect([relay.queued(), relay.slack.views.length]).toEqual([fault ? 0 : 1, typed === 'defect' && !fault ? 1 : 0]);
  });

  it('permissions apply to buttons, too', async () => {
    const suggestion = await command(relay, 'dnoe 101', { channelId: PLATFORM });
    await press(relay, suggestion, 'Run /pm done 101', { channelId: GENERAL });
    expect(readable(relay.lastMessage().blocks)).toContain('can be used in <#C0PLATFORM>, <#C0OTHER> only.');
    expect(relay.queued()).toBe(0);
  });

  it('the members of a group are requested at most once an hour', async () => {
    const asked = () => relay.slack.calls.filter(({ method }) => method === 'usergroups.users.list').length;
    const refused = async () =>
      (await command(relay, `log 1h ${relay.clock.now}`, { userId: NOBODY })).text.includes('Only members');
    expect(await refused()).toBe(true);
    relay.slack.userGroups.set('S0PLATFORM', [NOBODY]);
    relay.clock.now += 3_599_000;
    expect(await refused()).toBe(true);
    expect(asked()).toBe(2);
    relay.clock.now += 1_000;
    expect(await refused()).toBe(false);
    expect(asked()).toBe(4);
  });

  it('no one is allowed while Slack cannot say who is in a group', async () => {
    relay.slack.userGroups.delete('S0PLATFORM');
    expect((await command(relay, 'log 1h 4711')).text).toContain(
      "because Slack does not know a group in Partner Relay's settings",
    );
    for (let times = 0; times < 2; times++) relay.slack.fail({ method: 'usergroups.users.list', kind: 'server-error' });
    expect((await command(relay, 'log 1h 4711')).text).toContain('did not confirm your permission in time');
    expect(await relay.jobs()).toEqual([]);
  });

  it('a form does not open for people who may not send it', async () => {
    const open = (userId: string) => command(relay, 'defect', { userId, channelId: PLATFORM });
    for (const [groups, shut] of [
      [[MIRA], true],
      [[MIRA, NOBODY], false],
    ] as const) {
      relay.clock.now += 3_600_000;
      relay.slack.userGroups.set('S0PLATFORM', [...groups]);
      expect([(await open(NOBODY)).text, relay.slack.views.length]).toEqual(
        shut ? [expect.stringContaining('Only members of certain groups may use /pm defect'), 0] : ['', 1],
      );
    }
    await shortcut(relay, 'Login fails', { userId: 'U0AISHA01', channelId: PLATFORM });
    expect([relay.told().at(-1), relay.slack.views.length]).toEqual([
      expect.stringContaining('Only members of certain groups may use'),
      1,
    ]);
    // A person who has left the group since the form was opened cannot submit it.
    relay.slack.userGroups.set('S0PLATFORM', [MIRA]);
    relay.clock.now += 3_600_000;
    const fields = { project: PROJECT, title: 'Login fails' };
    expect(await submit(relay, relay.lastView(), fields)).toEqual({
      title: expect.stringContaining('Only members of certain groups may use'),
    });
  });

  it("a reminder's form respects permissions, too, wherever the reminder is", async () => {
    await pressLogRest(relay, { userId: NOBODY });
    expect([relay.told().at(-1), relay.slack.views]).toEqual([
      expect.stringContaining('Only members of certain groups may use /pm log'),
      [],
    ]);
    await pressLogRest(relay);
    expect(relay.slack.views).toHaveLength(1);
  });
});

it('a channel sends its commands to its own connection', async () => {
  const channels = { [PLATFORM]: { connection: 'other' } };
  const config = defineConfig({ connections: { main: {}, other: {} }, slack: { connection: 'main', channels } });
  relay = await startRelay({ config });
  await ask(relay, 'done 101', { channelId: PLATFORM });
  expect((await relay.jobs()).map(({ connection }) => connection)).toEqual(['other']);
  expect((await command(relay, 'status', { channelId: PLATFORM })).text).toContain(
    'Calls to the service on other\nNew requests run at once. Calls: 1 of 120',
  );
  expect((await command(relay, 'status')).text).toContain(
    'Calls to the service on main\nNew requests run at once. Calls: 0 of 120',
  );

  // A question in a direct message keeps the connection.
  await ask(relay, 'log 1h checkout', { channelId: PLATFORM, responseUrl: 'https://example.com/' });
  await press(relay, relay.lastMessage(), 'Log 1h on Release checkout 2.4', { channelId: 'D0MIRA' });
  await relay.work();
  expect((await relay.jobs()).map(({ connection }) => connection)).toEqual(['other', 'other', 'other']);
  expect(relay.told().at(-1)).toContain('Logged 1h');
});
