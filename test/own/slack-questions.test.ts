import { command as onCommand, schedule } from 'partner-relay';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Choice, CommandSteps, Steps } from '../../lib/triggers/steps.ts';
import type { SlackMessage } from '../../local/slack/workspace.ts';
import { takeUp } from '../../local/take-up.ts';
import type { RelayTest } from '../../local/trial/define-tests.ts';
import { runTest } from '../../local/trial/run-test.ts';
import { runRelayOf } from '../cli/run-command.ts';
import type { Trouble } from '../fuzz/process.ts';
import { World } from '../fuzz/world.ts';
import { customOf, exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { buttonsOf, command, GENERAL, interact, MIRA, PLATFORM, readable, TOMASZ } from '../slack-requests.ts';

let relay: TestRelay;

const NOW = Date.parse('2026-11-20T10:00:00Z');
const HOUR_MS = 3_600_000;
const END = NOW + 2 * HOUR_MS;
const LEVELS = [
  { text: 'Low', value: 1 },
  { text: 'High', value: 2 },
] as const;

const FOR_OTHERS = ':warning: This question is for somebody else.';
const NOT_OPEN = ':warning: This choice can no longer be made.';
const NOT_KEPT = 'This question is closed. Give the command again.';

/** Asks once or twice, and creates a defect from the answers. */
const asking =
  (to: 'asker' | { channel: string }, until: number, again = false) =>
  async (_: object, { ask, create }: Steps) => {
    const { by, answer } = await ask('level', 'Which severity?', { to, choices: LEVELS, until, default: 0 });
    if (again) await ask('sure', 'Are you sure?', { to, choices: ['Yes'], until });
    await create('make', 'defects/create', { project_id: PROJECT, title: `level ${answer}`, description: '' });
    return `level ${answer} by ${by ?? 'nobody'}`;
  };

const of = (verb: string, run: (input: never, steps: CommandSteps) => Promise<string>, permission?: string) => ({
  on: onCommand(verb, { does: 'asks', example: verb, inComments: true, ...(permission && { permission }) }),
  run,
});
const own = {
  mine: of('mine', asking('asker', END), 'mine'),
  theirs: of('theirs', asking({ channel: PLATFORM }, END)),
  twice: of('twice', asking('asker', END, true)),
};

const job = async () => (await relay.jobs()).find(({ automation }) => automation in own || automation === 'due') as Job;
const made = () => relay.sandbox.data.defects.map(({ title }) => title).filter((title) => title.startsWith('level'));
const hasButtons = ({ blocks = [] }: SlackMessage) => buttonsOf({ blocks }).length > 0;
/** The last question, as people still see it after its end. */
const question = () => structuredClone(relay.slack.messages.findLast(hasButtons)) as SlackMessage;
const shown = ({ ts }: SlackMessage) => readable(relay.slack.messages.find((one) => one.ts === ts)?.blocks);
/** The message about the last click that only the person sees. */
const told = () => readable(relay.slack.messages.findLast(({ kind }) => kind === 'ephemeral')?.blocks);

interface Click {
  by?: string;
  channelId?: string;
  /** Replaces parts of the button's value. */
  value?: object;
}

function click(on: SlackMessage, label: string, { by = MIRA, channelId = on.channel, value }: Click = {}) {
  const buttons = (on.blocks ?? []).flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const button = buttons.flatMap((one) => (one.type === 'button' && one.text.text === label ? [one] : []))[0];
  const held = value ? JSON.stringify({ ...JSON.parse(button?.value ?? '{}'), ...value }) : button?.value;
  const source = relay.slack.messages.find(({ ts }) => ts === on.ts);
  return interact(relay, {
    type: 'block_actions',
    team: { id: relay.slack.installation.teamId },
    user: { id: by, name: by === MIRA ? 'mira' : 'tomasz' },
    channel: { id: channelId },
    trigger_id: relay.slack.makeTriggerId(by),
    response_url: relay.slack.makeResponseUrl({ userId: by, channelId, source }),
    message: { ts: on.ts, blocks: on.blocks },
    actions: [{ ...button, value: held }],
  });
}

async function typed(text: string, options: TestRelayOptions = {}): Promise<void> {
  relay = await startRelay({ own, ...options });
  await command(relay, text);
  await relay.work();
}

/** Sends a command whose job asks a question. @returns the question */
async function asked(text: string, options: TestRelayOptions = {}): Promise<SlackMessage> {
  await typed(text, options);
  expect(await job()).toMatchObject({ status: 'waiting', dueAt: END });
  return question();
}

/** Acts when Slack has the question, but the run does not know that yet. */
function meanwhile(act: () => Promise<unknown>): TestRelayOptions {
  let done: Promise<unknown> | undefined;
  return {
    runtime: {
      async fetch(...request) {
        const response = await fetch(...request);
        if (!String(request[0]).endsWith('chat.postMessage')) return response;
        done ??= act();
        await done;
        return response;
      },
    },
  };
}

async function ends(outcome: string): Promise<void> {
  await relay.workToTheEnd();
  expect(await job()).toMatchObject({ status: 'succeeded', outcome });
  expect(made()).toEqual([outcome.split(' by')[0]]);
}

describe('a question in Slack', () => {
  it('has a button for each choice, and the answer replaces them and is used', async () => {
    const on = await asked('mine');
    expect(buttonsOf({ blocks: on.blocks ?? [] })).toEqual(['Low', 'High']);
    // The record contains none of the texts that people read.
    expect(JSON.stringify(await relay.stores.table.get(keys.job((await job()).id)))).not.toMatch(/severity|High/);
    expect(await click(on, 'High')).toMatchObject({ status: 200 });
    expect(shown(on)).toBe('Which severity?\n:white_check_mark: mira: High');
    await ends('level 2 by Mira Novak');
  });

  it('counts the first answer, and shows who gave it', async () => {
    const on = await asked('theirs');
    await click(on, 'High', { by: TOMASZ });
    await click(on, 'Low');
    expect(told()).toBe(':white_check_mark: tomasz: High');
    await ends('level 2 by Tomasz Zielinski');
    await click(on, 'Low');
    expect(told()).toBe(':white_check_mark: tomasz: High');
    await relay.workToTheEnd();
    expect(made()).toEqual(['level 2']);
  });

  it('counts one of two simultaneous answers', async () => {
    const on = await asked('theirs');
    await Promise.all([click(on, 'Low'), click(on, 'High', { by: TOMASZ }), click(on, 'High'), click(on, 'Low')]);
    await relay.workToTheEnd();
    expect(made()).toHaveLength(1);
    expect(shown(on)).toContain(made()[0] === 'level 1' ? ': Low' : ': High');
  });

  it('ends with the default, which its message shows, and accepts no answer after that', async () => {
    const on = await asked('mine');
    relay.clock.now = END;
    await click(on, 'High');
    expect(told()).toBe('Nobody answered in time.');
    await ends('level 0 by nobody');
    expect(shown(on)).toBe('Which severity?\nNobody answered in time.');
    await click(on, 'High');
    expect(told()).toBe('Nobody answered in time.');
    await relay.workToTheEnd();
    expect(made()).toEqual(['level 0']);
  });

  it('accepts no press of its buttons once the job asks the next question', async () => {
    const on = await asked('twice');
    await click(on, 'Low');
    await relay.work();
    await click(on, 'High');
    expect(told()).toBe('mira has already answered this.');
    await click(question(), 'Yes');
    await ends('level 1 by Mira Novak');
  });

  it.each<[string, string, Click, string]>([
    ['a person who was not asked', 'mine', { by: TOMASZ }, FOR_OTHERS],
    ['somebody in another channel', 'theirs', { channelId: GENERAL }, FOR_OTHERS],
    ['a choice that it has not', 'mine', { value: { choice: 2 } }, NOT_OPEN],
    ['another step', 'mine', { value: { step: 'make' } }, NOT_OPEN],
    ['a job that is not there', 'mine', { value: { job: 'mine-1' } }, NOT_KEPT],
  ])('accepts no answer of %s', async (_, text, how, says) => {
    const on = await asked(text);
    expect(await click(on, 'High', how)).toMatchObject({ status: 200 });
    expect(told()).toBe(says);
    await ends('level 0 by nobody');
  });

  it.each([{ choice: -1 }, { choice: 'x' }, { job: 'x'.repeat(300) }])(
    'refuses a button that holds %j',
    async (value) => {
      expect(await click(await asked('mine'), 'High', { value })).toMatchObject({ status: 400 });
      await ends('level 0 by nobody');
    },
  );

  it('accepts no answer of a person who may no longer use the command', async () => {
    const permissions = { mine: { userGroups: ['S0LEADS01'] } };
    const group = (users: string[]) => relay.slack.userGroups.set('S0LEADS01', users as never);
    relay = await startRelay({ own, config: exampleConfig({}, { slack: { permissions } }) });
    group([MIRA]);
    await command(relay, 'mine');
    await relay.work();
    group([]);
    relay.clock.now += HOUR_MS;
    await click(question(), 'High');
    expect(told()).toMatch(/^:warning: Only members of certain groups may use \/pm mine/);
    await ends('level 0 by nobody');
  });

  it('accepts no answer of a guest in its channel', async () => {
    const on = await asked('theirs');
    Object.assign(relay.slack.users.get(TOMASZ) ?? {}, { is_restricted: true });
    await click(on, 'High', { by: TOMASZ });
    expect(told()).toMatch(/^:warning: Guests may not use Partner Relay/);
    await ends('level 0 by nobody');
  });

  it('keeps its buttons while another version of the relay has the job', async () => {
    const on = await asked('mine');
    const key = keys.job((await job()).id);
    const item = (await relay.stores.table.get(key)) ?? {};
    await relay.stores.table.put({ ...key, ...item, form: 99 });
    await click(on, 'High');
    expect(told()).toMatch(/^:warning: Partner Relay cannot read this request/);
    await relay.stores.table.put({ ...key, ...item });
    await click(question(), 'High');
    await ends('level 2 by Mira Novak');
  });

  it('is open again after another question of new code was answered first', async () => {
    let isNew = false;
    const run = async (_: object, steps: CommandSteps) => {
      if (isNew) await steps.ask('first', 'First?', { choices: ['Yes'], until: END });
      return asking('asker', END)(_, steps);
    };
    const on = await asked('mine', { own: { mine: of('mine', run) } });
    isNew = true;
    const again = await relay.stores.jobs.requeue(await job());
    await relay.stores.queue.send(again ?? expect.fail());
    await relay.work();
    await click(on, 'High');
    expect(told()).toBe(NOT_OPEN);
    await click(question(), 'Yes');
    await relay.work();
    await click(on, 'High');
    await ends('level 2 by Mira Novak');
  });

  it('ends at once for a person who has left Slack', async () => {
    relay = await startRelay({ own });
    relay.slack.fail({ method: 'chat.postMessage', kind: 'error', error: 'user_disabled' });
    await command(relay, 'mine');
    await relay.work();
    expect(await job()).toMatchObject({ status: 'succeeded', outcome: 'level 0 by nobody' });
  });

  it('looks up the person first if only known users may use the relay', async () => {
    const on = await asked('theirs', { config: exampleConfig({}, { slack: { access: { knownOnly: true } } }) });
    await click(on, 'High', { by: TOMASZ });
    expect(told()).toMatch(/looking up your user/);
    await relay.work();
    await click(on, 'High', { by: TOMASZ });
    await ends('level 2 by Tomasz Zielinski');
  });

  it('delays nobody: the person can give ten more commands, and reads of no wait', async () => {
    await asked('mine');
    const said = relay.slack.messages.length;
    for (let count = 0; count < 10; count++) await command(relay, 'mine');
    await relay.work();
    expect((await relay.jobs('waiting')).length).toBe(11);
    const since = relay.slack.messages.slice(said).map(({ blocks }) => readable(blocks));
    expect(since).toEqual(Array(10).fill('Which severity?'));
  });
});

describe('an answer', () => {
  it('that arrives while the job runs is stored, one of several, and the run does not wait', async () => {
    const clickAll = () =>
      ['High', 'Low', 'High', 'Low'].map((label) => click(question(), label, { by: label === 'Low' ? TOMASZ : MIRA }));
    await typed(
      'theirs',
      meanwhile(() => Promise.all(clickAll())),
    );
    const on = relay.slack.messages.find(({ blocks }) => blocks?.length === 2) as SlackMessage;
    const level = shown(on).endsWith(' Low') ? 1 : 2;
    expect(await job()).toMatchObject({ status: 'succeeded', outcome: expect.stringMatching(`level ${level}`) });
    const others = relay.slack.messages.filter(
      ({ kind, blocks }) => kind === 'ephemeral' && /: (Low|High)$/.test(readable(blocks)),
    );
    expect(others).toHaveLength(3);
  });

  it('that arrives in time counts, even if the run ends then', async () => {
    const inTime = async () => {
      await click(question(), 'High');
      relay.clock.now = END;
    };
    await typed('mine', meanwhile(inTime));
    expect(await job()).toMatchObject({ status: 'succeeded', outcome: 'level 2 by Mira Novak' });
  });

  const sweepLater = () => {
    relay.clock.now += 61_000;
    return relay.sweep();
  };
  it.each<[string, () => Promise<unknown>]>([
    ['is found by the sweep if its message is lost', sweepLater],
    ['is taken up after a restart on one machine', () => takeUp(relay.stores, relay.runtime.config, true)],
  ])('%s', async (_, found) => {
    const on = await asked('mine');
    await click(on, 'High');
    for (const queue of relay.stack.queues)
      for (let message = queue.receive(); message; message = queue.receive()) queue.delete(message.receiptHandle);
    await relay.work();
    expect(await job()).toMatchObject({ status: 'queued' });
    await found();
    await relay.work();
    expect(await job()).toMatchObject({ status: 'succeeded', outcome: 'level 2 by Mira Novak' });
  });

  it.each(['cut', 'server-error'] as const)('counts even if Slack does not accept its message (%s)', async (kind) => {
    const on = await asked('mine');
    relay.slack.fail({ method: 'response_url', kind });
    await click(on, 'High');
    await relay.work();
    expect(hasButtons(relay.slack.messages.find(({ ts }) => ts === on.ts) as SlackMessage)).toBe(true);
    await click(on, 'Low');
    expect(shown(on)).toBe('Which severity?\n:white_check_mark: mira: High');
    await ends('level 2 by Mira Novak');
  });

  it.each<[string, (answer: string, other: string) => string]>([
    ['made up', () => Buffer.from('an answer that is long enough to be one that somebody sealed').toString('base64')],
    ['of another question', (_, other) => other],
  ])('%s in the table parks the job', async (_, forge) => {
    const on = await asked('twice');
    await command(relay, 'mine');
    await relay.work();
    await click(question(), 'High');
    const [first, second] = (await relay.jobs()) as [Job, Job];
    const { answer = '' } = second.question ?? {};
    await click(on, 'Low');
    const key = keys.job(first.id);
    const item = await relay.stores.table.get(key);
    const kept = { ...(item?.question as object), answer: forge(String(Object(item?.question).answer), answer) };
    await relay.stores.table.put({ ...key, ...item, question: kept });
    await relay.work();
    const parked = { reason: expect.stringContaining('was changed in the table') };
    expect((await relay.jobs('parked'))[0]).toMatchObject({ id: first.id, parked });
  });

  it('of an operator is refused, and the refusal names the person who was asked', async () => {
    const on = await asked('mine');
    const { id } = await job();
    await expect(runRelayOf(relay, ['replay', id, '--reason', 'High'])).rejects.toThrow(
      /asks mira in Slack, until .*: nobody else can answer, but you can discard it/,
    );
    expect(await runRelayOf(relay, ['job', id])).toMatch(/waits until .* for the answer of mira in Slack/);
    await runRelayOf(relay, ['discard', id, '--reason', 'not wanted']);
    // Before a worker has ended the question, and after that.
    for (const _ of [1, 2]) {
      await click(on, 'High');
      expect(told()).toMatch(/^This question is over: its request is /);
      await relay.workToTheEnd();
    }
    expect(await job()).toMatchObject({ status: 'not-done' });
    expect(shown(on)).toContain('This question is over');
    expect(made()).toEqual([]);
  });
});

const MANY = Array.from({ length: 26 }, (_, index) => `choice ${index}`);
it.each<[string, Parameters<CommandSteps['ask']>[2], RegExp]>([
  ['more than 25 choices', { choices: MANY, until: END }, /needs 1 to 25 choices/],
  ['no choice', { choices: [], until: END }, /needs 1 to 25 choices/],
  ['a choice without a text', { choices: [' '], until: END }, /needs 1 to 25 choices, each with a text/],
  ['more than a week', { choices: ['a'], until: NOW + 8 * 24 * HOUR_MS }, /asks for more than seven days/],
  ['no end', { choices: ['a'], until: 'soon' }, /not a time between 2000 and 2100/],
  ['the name of a channel', { to: { channel: '#general' }, choices: ['a'], until: END }, /needs the id of a channel/],
])('%s parks the job, and says so', async (_, given, reason) => {
  const run = async (_: object, { ask }: CommandSteps) => String((await ask('which', 'Which?', given)).answer);
  await typed('mine', { own: { mine: of('mine', run) } });
  expect(await job()).toMatchObject({ status: 'parked', parked: { reason: expect.stringMatching(reason) } });
});

it.each<[string, TestRelayOptions, RegExp]>([
  ['nobody has asked for', {}, /is for the person who asked, and this job does not come from Slack/],
  ['has no Slack', { config: { ...exampleConfig(), slack: undefined } }, /./],
])('a job that %s parks at the question for the person', async (_, options, reason) => {
  const due = { on: schedule('0 10 * * *', 'UTC'), run: asking('asker', END) };
  relay = await startRelay({ own: { due }, ...options });
  await relay.fire('due-schedules', { own: 'due', at: new Date(NOW).toISOString() } as never);
  await relay.work();
  expect(await job()).toMatchObject({ status: 'parked', parked: { reason: expect.stringMatching(reason) } });
});

it('texts are data, and too long ones are cut', async () => {
  const choices: Choice[] = ['<!channel> *now*', 'x'.repeat(200)];
  const run = async (_: object, { ask }: CommandSteps) => {
    const { answer } = await ask('which', `<@U0MIRA001> ${'y'.repeat(4_000)}`, { choices, until: END });
    return `chose ${String(answer).length}`;
  };
  await typed('mine', { own: { mine: of('mine', run) } });
  const on = question();
  expect(JSON.stringify(on.blocks)).not.toContain('mrkdwn');
  expect(on.text).toMatch(/^&lt;@U0MIRA001&gt;/);
  await click(on, buttonsOf({ blocks: on.blocks ?? [] })[1] ?? '');
  await relay.work();
  expect(await job()).toMatchObject({ status: 'succeeded', outcome: 'chose 200' });
});

describe("a team's test", () => {
  const files = {
    mine: of('mine', async (_: object, steps: CommandSteps) => {
      const { user } = await steps.user('who');
      const tasks = await steps.list('tasks', 'tasks/list', { project_id: PROJECT }, ({ task_id, name, ...row }) =>
        task_id != null && name && row.assigned_to === user?.id ? { text: name, value: task_id } : undefined,
      );
      const { answer } = await steps.ask('which', 'Which one?', { choices: tasks, until: { hours: 2 } });
      if (answer === undefined) return steps.stop('no task was chosen');
      await steps.call('complete', 'work-items/checklist/items/complete', { item_id: 101, is_completed: true });
      return `chose ${tasks.find(({ value }) => value === answer)?.text}`;
    }),
    deploy: of('deploy', async (_: object, { ask }: CommandSteps) => `said ${(await ask('may', 'May it?')).answer}`),
    block: of('block <what\u2026>', async ({ what }: { what: string }, { task }: CommandSteps) => {
      const { name, rest } = await task('find', what, { rest: true });
      return `blocked ${name}: ${rest}`;
    }),
  };
  const given = { tasks: [{ name: 'Cart' }, { name: 'Of somebody else', assigned_to: null }] };
  const complete = { 'work-items/checklist/items/complete': { item_id: 101 } };
  const config = exampleConfig();
  const run = (test: RelayTest) => runTest(test, config, '.', customOf(files, config));

  const mine = { given, event: { command: 'mine' } };
  const block = (words: string) => ({ event: { command: `block ${words}` }, makes: {} });
  const blocked = (why: string) => ({ says: [`Blocked Login with passkeys: ${why}`] });
  const may = { event: { command: 'deploy' }, answers: { may: 'yes' } };
  it.each<[string, RelayTest]>([
    [
      'presses a button',
      { ...mine, answers: { which: 'Cart' }, makes: complete, says: ['Chose Cart', 'Mira Novak: Cart'] },
    ],
    ['lets the question end', { ...mine, makes: {}, says: ['No task was chosen'] }],
    ['answers as an operator', { ...may, makes: {}, says: ['Said yes'] }],
    [
      'chooses the task that was meant',
      {
        ...block('Login waits for Ada'),
        answers: { 'find: which': 'Login with passkeys' },
        ...blocked('waits for Ada'),
      },
    ],
    ['finds the task with the longest name', { ...block('Login with passkeys waits'), ...blocked('waits') }],
  ])('%s, whatever interrupts the job', async (_, test) => {
    expect(await run(test)).toEqual([]);
  });

  it('says what a question offers, and which questions were not asked', async () => {
    const test = { ...mine, makes: {} };
    await expect(run({ ...test, answers: { which: 'Pay' } })).rejects.toThrow(
      "the step 'which' offers 'Release checkout 2.4', 'Cart', and not 'Pay'",
    );
    expect(await run({ ...test, answers: { wich: 'Cart' } })).toContain("expected a question of the step 'wich'");
  });
});

describe('a job with a question acts on one answer', () => {
  type Run = (world: World, troubles: Trouble[]) => Promise<void>;
  const asks: Run = async (world, troubles) => void (await world.work(0, troubles));
  const presses: Run = async (world, troubles) => {
    await world.work(0);
    await world.press(0, 1, true, troubles);
  };
  const reads: Run = async (world, troubles) => {
    await presses(world, []);
    await world.work(0, troubles);
  };
  const ends: Run = async (world, troubles) => {
    await world.work(0);
    await world.pass(2 * HOUR_MS + 60_000);
    await world.sweep();
    await world.work(0, troubles);
  };

  it.each<[string, Run]>([
    ['the run that asks', asks],
    ['the click', presses],
    ['the run that reads the answer', reads],
    ['the run that ends without an answer', ends],
  ])('if %s dies, loses an answer or stalls at any of its requests', async (_, run) => {
    const wrong: string[] = [];
    for (const what of ['dies after', 'answer lost', 'stalls before', 'stalls after'] as const) {
      for (let at = 0; at < 14; at++) {
        const world = await World.start({ perMinute: 100, perDay: 1_000, counting: 'sliding' });
        const { text, note } = world.team.picks('web');
        const typed = world.slack.types(text, { name: 'pick' });
        note(typed.job);
        await world.command(typed);
        await run(world, [{ at, what }]);
        await world.press(0, 0, true);
        while (world.stalled.length > 0) await world.resume(0);
        for (let minutes = 0; minutes < 3; minutes++) {
          while (await world.work(0));
          await world.press(0, 0, true);
          await world.pass(61_000);
          await world.sweep();
        }
        while (await world.work(0));
        const { defects } = world.service.data;
        const found = [...world.bugs, ...world.team.wrong(defects, () => 0), ...world.team.lost(world.jobs(), defects)];
        wrong.push(...found.map((one) => `${one}: ${what} ${at}`));
        const ended = world.jobs().find(({ id }) => id === typed.job);
        if (ended?.status !== 'succeeded') wrong.push(`it is ${ended?.status}: ${what} ${at}`);
        world.close();
      }
    }
    expect(wrong).toEqual([]);
  });
});
