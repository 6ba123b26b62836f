import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { RESPONSE_URL_LIVES_MS } from '../../lib/platforms/slack/response-url.ts';
import { cutToLength } from '../../lib/text.ts';
import { exampleConfig, PROJECT, SIGNING_SECRET, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { GENERAL, MIRA, PLATFORM } from '../slack-people.ts';
import { ask, buttonsOf, command, mrkdwnOf, press, readable, submit } from '../slack-requests.ts';

let relay: TestRelay;
const start = async (options?: TestRelayOptions) => {
  relay = await startRelay(options);
};

const limited = (limits: { perMinute?: number; perDay?: number }) => ({
  config: exampleConfig({}, { connection: { limits } }),
});
const MINUTE = 60_000;
const COMPLETED = ':white_check_mark: Completed checklist item 101.';
async function usedUp(): Promise<string> {
  const responseUrl = relay.slack.makeResponseUrl({ userId: MIRA, channelId: GENERAL });
  for (let use = 1; use <= 5; use++) {
    const headers = { 'content-type': 'application/json' };
    await fetch(responseUrl, { method: 'POST', headers, body: JSON.stringify({ text: `${use}` }) });
  }
  return responseUrl;
}
const outcomes = async () => (await relay.jobs()).map(({ status, outcome }) => `${status}: ${outcome}`);

describe('a person who has to wait', () => {
  beforeEach(() => start());

  it('a waiting person reads until when, and gets the outcome in the same place', async () => {
    await start(limited({ perMinute: 2 }));
    await command(relay, 'done 101 102 103');
    await relay.workToTheEnd();
    const waits =
      /^:hourglass: done 101 102 103 has to wait: (.*)\. Your request continues by itself, at about <!date\^(\d+)\^.*\|(.*:\d\d) UTC> or later\.$/;
    expect(relay.told()).toEqual([
      expect.stringMatching(waits),
      ':white_check_mark: Completed checklist items 101, 102 and 103.',
    ]);
    const [, why, seconds, utc] = waits.exec(relay.told()[0] ?? '') ?? [];
    expect(why).toBe('the service takes no more calls for now');
    expect(new Date(Number(seconds) * 1000).toISOString()).toContain(utc?.replace(' ', 'T'));
    const [told1, told2] = relay.slack.messages;
    // The message has the next full minute.
    expect(Number(seconds) % 60).toBe(0);
    expect(told2?.at).toBeGreaterThan(Number(seconds) * 1000 - MINUTE);
    expect([told1, told2]).toMatchObject([{ kind: 'ephemeral' }, { kind: 'ephemeral' }]);
  });

  it('a waiting person reads another reason, once ten minutes have passed', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 660, times: 1 });
    await ask(relay, 'done 101');
    relay.sandbox.setFault({ kind: 'key-revoked' });
    await relay.pass(20 * MINUTE);
    expect(relay.told()).toEqual([
      expect.stringMatching(/^:hourglass: done 101 has to wait: the service takes no more calls for now/),
      expect.stringMatching(
        /^:hourglass: done 101 has to wait: your Partner Relay administrator has to replace Partner Relay's key\. Your request then/,
      ),
    ]);
  });

  it('a waiting person is notified at the next try if the first message fails, which does not stop the job', async () => {
    relay.slack.fail({ method: 'response_url', kind: 'server-error' });
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 60 });
    await ask(relay, 'done 101');
    expect(relay.log).toContainEqual(expect.objectContaining({ message: 'the person who asked could not be told' }));
    await relay.pass(25 * MINUTE);
    relay.sandbox.clearFaults();
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([expect.stringMatching(/^:hourglass: done 101 has to wait/), COMPLETED]);
  });

  it('a waiting person is notified even if a worker died while it notified them', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 60 });
    await command(relay, 'done 101');
    const [job = expect.fail('there is no job')] = await relay.jobs();
    const clock = () => relay.clock.now;
    const journal = await openJournal(relay.stores.table, job.id, clock);
    const begun = { step: 'say why it waits: budget', calls: 'Slack message', startedAt: clock() };
    await journal.write({ ...begun, status: 'begun' });
    await relay.work();
    expect(relay.told()).toEqual([expect.stringMatching(/^:hourglass: done 101 has to wait/)]);
  });

  it.each([0, 1_500, 6_000])(
    'everyone whose commands wait for a key is notified, with %i ms between them',
    async (apart) => {
      relay.sandbox.setFault({ kind: 'key-revoked' });
      for (const item of [101, 102, 103, 104, 201, 202]) {
        await command(relay, `done ${item}`, { triggerId: `trigger ${item}` });
        if (apart > 0) await relay.work();
        relay.clock.now += apart;
      }
      await relay.work();
      await relay.pass(30 * MINUTE);
      for (const { id } of await relay.jobs())
        expect(Object.keys(await relay.steps(id))).toContain('say why it waits: key');
    },
  );

  it('a wait of seconds is not reported', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 9, times: 1 });
    await command(relay, 'done 101');
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([COMPLETED]);
  });

  it('a waiting person can use status, help and find', async () => {
    await start(limited({ perMinute: 3 }));
    await ask(relay, 'done 101 102 103 104');
    relay.clock.now += 1;
    await command(relay, 'undo 104');
    const before = relay.sandbox.requests;
    const { text } = await command(relay, 'status');
    expect(text).toMatch(
      /:hourglass: done 101 102 103 104\s+Waiting until <!date\^\d+\^[^>]*>: the service takes no more calls for now/,
    );
    expect(text).toMatch(/:hourglass: undo 104\s+Waiting for your earlier requests/);
    expect(text).toMatch(/Calls to the service\nNew requests wait until <!date\^.* 3 of 3 in the last minute/);
    expect((await command(relay, 'help')).text).toContain('/pm done');
    expect(relay.sandbox.requests).toBe(before);
    // The relay does first what they asked for first.
    await relay.workToTheEnd();
    expect(relay.sandbox.data.checklistItems[3]).toMatchObject({ item_id: 104, is_completed: false });
    expect(relay.told().at(-1)).toBe(':white_check_mark: Set checklist item 104 to open.');
  });
});

describe('an outcome', () => {
  beforeEach(() => start());

  it.each([
    ['short of half an hour', RESPONSE_URL_LIVES_MS - 1, 'ephemeral', GENERAL],
    ['after that', RESPONSE_URL_LIVES_MS, 'message', `D${MIRA.slice(1)}`],
  ])('an outcome goes to where the command was, and later to a direct message: %s', async (_, later, kind, channel) => {
    await command(relay, 'done 101');
    relay.clock.now += later;
    await relay.work();
    expect(relay.told()).toEqual([COMPLETED]);
    expect(relay.lastMessage()).toMatchObject({ kind, channel, userId: MIRA });
  });

  it('an outcome is a direct message if the response_url is used up', async () => {
    await ask(relay, 'done 101', { responseUrl: await usedUp() });
    expect(relay.lastMessage()).toMatchObject({ kind: 'message', channel: `D${MIRA.slice(1)}` });
    expect(relay.told().at(-1)).toBe(COMPLETED);
  });

  const direct = RESPONSE_URL_LIVES_MS;
  it.each([
    [0, 'down', { kind: 'server-error', times: 3 }],
    [0, 'wanting fewer messages', { kind: 'rate-limited' }],
    [direct, 'down', { kind: 'server-error', times: 3 }],
    [direct, 'wanting fewer messages', { kind: 'rate-limited', retryAfterSeconds: 45 }],
    [direct, 'wanting a second without messages, often', { kind: 'rate-limited', retryAfterSeconds: 1, times: 30 }],
    [direct, 'wanting no messages for ever', { kind: 'rate-limited', retryAfterSeconds: Number.POSITIVE_INFINITY }],
    [direct, 'losing its answers', { kind: 'server-error', when: 'after work', times: 2 }],
  ] as const)('an outcome arrives once, %i ms later, with Slack %s', async (later, _, failure) => {
    relay.slack.fail({ method: later === 0 ? 'response_url' : 'chat.postMessage', ...failure });
    await command(relay, 'done 101');
    relay.clock.now += later;
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([COMPLETED]);
    expect(relay.requestsTo('/work-items/checklist/items/complete')).toBe(1);
    expect(await outcomes()).toEqual(['succeeded: completed checklist item 101']);
  });

  it('an outcome is sent again rather than never if the app may not search for it', async () => {
    relay.slack.fail({ method: 'chat.postMessage', kind: 'cut', when: 'after work' });
    relay.slack.fail({ method: 'conversations.open', kind: 'error', error: 'missing_scope' });
    await command(relay, 'done 101');
    relay.clock.now += RESPONSE_URL_LIVES_MS;
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([COMPLETED, COMPLETED]);
  });

  it('an outcome for a person who left is skipped, and the job ends', async () => {
    await command(relay, 'done 101');
    relay.clock.now += RESPONSE_URL_LIVES_MS;
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { deleted: true });
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([]);
    expect(await outcomes()).toEqual(['succeeded: completed checklist item 101']);
  });

  it('an outcome that Slack refuses parks the job, whose work is not repeated', async () => {
    relay.slack.fail({ method: 'chat.postMessage', kind: 'error', error: 'missing_scope' });
    await command(relay, 'done 101');
    relay.clock.now += RESPONSE_URL_LIVES_MS;
    await relay.workToTheEnd();
    const [parked] = await relay.jobs('parked');
    expect(parked?.parked?.reason).toMatch(/Slack refuses chat\.postMessage: missing_scope/);
    await relay.replay();
    expect(relay.told()).toEqual([COMPLETED]);
    expect(relay.requestsTo('/work-items/checklist/items/complete')).toBe(1);
  });
});

it('without a token, outcomes are sent while the response_url lasts, and then left out', async () => {
  const people = [{ slack: MIRA, email: 'mira.novak@example.com' }];
  await start({ config: exampleConfig({}, { people }), slack: { signingSecret: SIGNING_SECRET } });
  await ask(relay, 'done 101');
  await command(relay, 'done 102', { responseUrl: await usedUp() });
  await relay.workToTheEnd();
  await command(relay, 'done 103');
  relay.clock.now += RESPONSE_URL_LIVES_MS;
  await relay.workToTheEnd();
  expect(relay.told().filter((text) => text.includes('Completed'))).toEqual([COMPLETED]);
  const jobs = await relay.jobs('succeeded');
  expect([jobs.length, (await relay.steps(jobs.at(-1)?.id ?? '')).reply]).toEqual([3, 'skipped']);
  expect(relay.slack.calls.filter(({ method }) => method === 'chat.postMessage')).toEqual([]);
});

it('a person reads that an unknown outcome may or may not have been done', async () => {
  await start();
  relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/create' });
  await ask(relay, 'defect Login fails', { channelId: PLATFORM });
  relay.clock.now += 3_600_000;
  await relay.workToTheEnd();
  expect(relay.told().at(-1)).toMatch(
    /^:octagonal_sign: defect Login fails\nThe service gave no clear answer, so this may or may not have been done\. It is saved as job \w{6},/,
  );
});

it('a parked job is reported with what to do, and again when it is parked again', async () => {
  const keys = [{ apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['users.read'] }];
  await start({ sandbox: { keys } });
  const parked = async () => (await relay.jobs('parked'))[0] ?? expect.fail('nothing is parked');
  const { inTheEnd } = await ask(relay, 'defect Login fails', { channelId: PLATFORM });
  expect(inTheEnd).toMatch(
    /^:octagonal_sign: defect Login fails\nThis could not be done: the service refused it\. It is saved as job \w{6}, and your Partner Relay administrator can see why and continue it\.$/,
  );
  expect((await parked()).parked?.reason).toContain('403');
  expect((await command(relay, 'status')).text).toMatch(
    /:octagonal_sign: defect Login fails\sThis could not be done: the service refused it/,
  );
  await relay.replay();
  expect(relay.told()).toEqual([inTheEnd, inTheEnd]);
  relay.sandbox.keys[0] = { apiKey: 'pk_scoped', secretKey: 'secret', scopes: ['*'] };
  await relay.replay();
  expect(relay.told().at(-1)).toContain('Created defect');
  expect(relay.sandbox.data.defects).toHaveLength(2);
});

describe('text from outside', () => {
  const PINGS = '<!channel> <!subteam^S0PLATFORM> <@U0TOMASZ1> <https://evil.example|click>';
  const FORMATS = '*bold* _italic_ ~struck~ `code` (*_both_*)';
  const TITLE = `${PINGS} ${FORMATS} &lt;!here&gt;`;
  /** The answers and messages after everything that repeats the text. */
  const shown: { text?: string; blocks?: readonly object[] }[] = [];

  beforeAll(async () => {
    await start();
    const [task, other] = relay.sandbox.data.tasks;
    const [project] = relay.sandbox.data.projects;
    Object.assign(task ?? {}, { name: TITLE, title: TITLE });
    Object.assign(other ?? {}, { name: `${TITLE} too`, title: `${TITLE} too` });
    Object.assign(project ?? {}, { name: TITLE });
    const typed = TITLE.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    for (const asked of [
      `defect ${typed}`,
      'find &lt;!channel',
      `log 1h ${task?.task_id}`,
      'log 1h “&lt;!channel”',
      `log 1h “${typed}?”`,
      `done ${typed}`,
      typed,
    ]) {
      shown.push(JSON.parse((await command(relay, asked, { channelId: PLATFORM })).body));
    }
    await ask(relay, 'defect', { channelId: PLATFORM });
    await submit(relay, relay.lastView(), { title: TITLE, project: PROJECT });
    await press(relay, relay.slack.messages[1] ?? relay.lastMessage(), 'Log time');
    shown.push({ blocks: relay.lastView().view.blocks });
    await relay.work();
    shown.push(JSON.parse((await command(relay, 'status')).body), ...relay.slack.messages);
  });

  it('text from outside is shown as written', () => {
    const read = shown.map(({ blocks }) => readable(blocks));
    for (const [told, times] of [
      [/^:white_check_mark: Created defect/, 2],
      [/^Tasks\n/, 1],
      [/^:white_check_mark: Logged 1h on/, 1],
      [/^:warning: No task has the name/, 1],
      [/^On /, 1],
      [/^Your last requests\n/, 1],
    ] as const) {
      const repeated = read.filter((text) => told.test(text) && text.includes(TITLE));
      expect([told, repeated.length]).toEqual([told, times]);
    }
    expect(shown.flatMap(buttonsOf)).toContain(`Log 1h on ${cutToLength(TITLE, 45, '…')}`);
    expect(relay.sandbox.data.defects.at(-1)?.title).toBe(TITLE);
  });

  it('text from outside is never a mention, link or ping', () => {
    // The text for notifications is mrkdwn, too.
    for (const mrkdwn of shown.flatMap(({ text = '', blocks }) => [text, ...mrkdwnOf(blocks)])) {
      expect(mrkdwn.match(/<(?!!date\^)[^>]*>?/g) ?? []).toEqual([]);
    }
  });

  it('text from outside has no formatting', () => {
    const ours = /\*(?:Tasks|Projects|Your last requests|Calls to the service)\*/g;
    for (const mrkdwn of shown.flatMap(({ blocks }) => mrkdwnOf(blocks))) {
      // Spans of code contain typed text, in which no character has a meaning.
      const open = mrkdwn.replaceAll(ours, '').replaceAll(/(?<=^| )`[^`\n]*`(?= |,|\.|$)/gm, '');
      // Text between two equal marks outside a word:
      // https://docs.slack.dev/messaging/formatting-message-text#basic-formatting
      expect(open.match(/(?<![\p{L}\p{N}])([*_~`])(?=\S)[^\n]*?(?<=\S)\1(?![\p{L}\p{N}])/gu) ?? []).toEqual([]);
    }
  });
});

describe('everything that goes out', () => {
  beforeEach(() => start());
  const LONG_ID = `${'x'.repeat(61)}1`;
  const twenty = Array.from({ length: 20 }, (_, index) => index);

  const [succeeded, notDone] = (['succeeded', 'not-done'] as const).map((status) => [status, status]);
  it.each([
    ['an unknown command', [], 'fly '.repeat(750)],
    ['a near miss', [], `dnoe ${`${LONG_ID} `.repeat(20)}`],
    ['20 checklist ids', notDone, `done ${twenty.map((index) => `${LONG_ID}${index + 10}`).join(' ')}`],
    ['a task and a note', notDone, `log 1h “${'task '.repeat(300)}” ${'note '.repeat(300)}`],
    ['a title', succeeded, `defect ${'title '.repeat(499)}`],
    ['signs that are escaped', succeeded, `find ${'&amp;'.repeat(598)}`],
    ['signs of many bytes', succeeded, `find ${'🦆'.repeat(1_498)}`],
    ['quotation marks', notDone, `log 1h ${'"'.repeat(2_990)}`],
  ])('a message of any length fits: %s', async (_, statuses, typed) => {
    // The same command again: the question fits, too.
    for (const _ of ['once', 'and again']) {
      const { text } = await command(relay, typed, { channelId: PLATFORM });
      expect([text.length > 0, text.isWellFormed()]).toEqual([true, true]);
    }
    await relay.work();
    expect((await command(relay, 'status')).text).toContain('Calls to the service');
    const jobs = await relay.jobs();
    expect(jobs.map(({ status }) => status)).toEqual(statuses);
    expect(relay.told().map((text) => text.isWellFormed())).toEqual(jobs.map(() => true));
  });

  it.each([
    ['500 letters', 'Wörter und '.repeat(46).slice(0, 500)],
    ['500 signs that are escaped', '&'.repeat(500)],
    ['500 emoji', 'n🦆'.repeat(334).slice(0, 1_000)],
    ['nothing', ''],
  ])('a message with any task and project names fits: %s', async (_, name) => {
    const { tasks, projects } = relay.sandbox.data;
    for (const task of tasks) Object.assign(task, { name, title: name, description: 'needle' });
    for (const project of projects) Object.assign(project, { name, description: 'needle' });
    await command(relay, 'find needle');
    // As a direct message, which allows less than an answer to a command.
    relay.clock.now += RESPONSE_URL_LIVES_MS;
    await relay.workToTheEnd();
    expect((await relay.jobs()).map(({ status, parked }) => parked?.reason ?? status)).toEqual(['succeeded']);
    expect(relay.told()).toEqual([expect.stringMatching(/^Tasks\n.*\nProjects\n/s)]);
    expect(everyStringIsWellFormed(relay.lastMessage().blocks)).toBe(true);
  });
});

it('the log has no secret, response_url, note or address, and the table no secret', async () => {
  await start({ github: { token: 'ghp_canary' } });
  const responseUrl = relay.slack.makeResponseUrl({ userId: MIRA, channelId: GENERAL });
  await ask(relay, 'log 1h “Release checkout 2.4” canary-note', { responseUrl });
  await ask(relay, 'log 2h “no such task” canary-note');
  await ask(relay, 'log 1h “Release checkout 2.4” canary-note', { userId: 'U0NOBODY1' });
  await ask(relay, 'defect Login fails', { channelId: PLATFORM });
  await ask(relay, 'find login');
  await command(relay, 'canary-note');
  await ask(relay, 'defect');
  await submit(relay, relay.lastView(), { project: PROJECT, title: 'Login fails', description: 'canary-description' });
  relay.slack.fail({ method: 'chat.postMessage', kind: 'server-error' });
  relay.sandbox.setFault({ kind: 'server-error', times: 2 });
  await relay.workToTheEnd();
  await ask(relay, 'done 101 999');
  await fetch(relay.slackUrl, { method: 'POST', body: 'text=canary-note' });
  expect(relay.log.length).toBeGreaterThan(30);
  const [key] = relay.sandbox.keys;
  const secrets = {
    'the token': 'xoxb',
    'the signing secret': SIGNING_SECRET,
    "GitHub's token": 'ghp_canary',
    'the secret key': key?.secretKey ?? '',
  };
  const log = JSON.stringify([relay.log, relay.metrics]);
  for (const [what, text] of Object.entries({
    ...secrets,
    'the API key': key?.apiKey ?? '',
    'a response_url': '/response/',
    'a note': 'canary-note',
    'a description': 'canary-description',
    'an address': '@example.',
  })) {
    expect.soft(around(text, log), what).toBe('');
  }
  const scan = new ScanCommand({ TableName: relay.runtime.environment.TABLE_NAME });
  const table = JSON.stringify((await new DynamoDBClient({}).send(scan)).Items);
  expect(table).toContain('canary-note');
  for (const [what, text] of Object.entries(secrets)) expect.soft(around(text, table), what).toBe('');
});

/** The characters around the text; empty if the text is missing. */
function around(text: string, whole: string): string {
  const at = whole.indexOf(text);
  return at < 0 ? '' : whole.slice(Math.max(0, at - 150), at + 50);
}

function everyStringIsWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null || Object.values(value).every(everyStringIsWellFormed);
}
