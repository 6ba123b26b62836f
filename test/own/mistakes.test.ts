import { command, github, hmac, type Run, schedule, token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { describe, expect, it } from 'vitest';
import { described } from '../../lib/automations/custom/folder.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay | undefined;

const input = { title: z.string() };
const on = github('issues.opened', {
  input,
  job: ({ issue }) => ({ happened: [issue.id], input: { title: issue.title } }),
});
const opened = issueEvent('opened', { labels: [] });
const tasks = { project_id: PROJECT };

const signed = { header: 'x-signature', encoding: 'hex' } as const;
const hook = (more: Pick<Parameters<typeof webhook>[0], 'verify' | 'challenge'>) =>
  webhook({ ...more, body: z.unknown(), input: {}, job: () => 'none' });

/** A sentence refuses each mistake and says what to do. Where possible, the types refuse it, too. */
describe("a team's mistake", () => {
  it.each<[string, unknown, string | RegExp]>([
    [
      'a wrong name of an event',
      // @ts-expect-error
      github('release.publish', { input, job: () => 'none' }),
      "GitHub has no event 'release.publish'; did you mean 'release.published'?",
    ],
    [
      'a cron expression with a part too few',
      schedule('0 9 * *', 'Europe/Berlin'),
      "it has 4 parts. Write five parts: minute, hour, day of the month, month and day of the week, such as '0 9 * * MON'",
    ],
    [
      'a name that no event of GitHub is like',
      // @ts-expect-error
      github('pipeline.finished', { input, job: () => 'none' }),
      /^GitHub has no event 'pipeline.finished'; there are (?:[\w.]+, ){4}[\w.]+ and \d+ others$/,
    ],
    ['a cron expression with a wrong part', schedule('0 9 * * FOO', 'Europe/Berlin'), 'FOO'],
    ['a cron expression with an hour too late', schedule('0 25 * * *', 'Europe/Berlin'), /[^.]\. Write five parts/],
    [
      'a parameter with a name that every object has',
      command('block <toString>', { does: 'blocks a task', example: 'block 4711' }),
      'every object of JavaScript has toString; give that parameter another name',
    ],
    [
      'a way to sign that does not exist',
      // @ts-expect-error
      hook({ verify: hmac({ ...signed, hash: 'sha265' }) }),
      "verify.hash: expected 'sha1', 'sha256' or 'sha512', found 'sha265'; did you mean 'sha256'?",
    ],
    [
      'an option that hmac does not have',
      // @ts-expect-error
      hook({ verify: hmac({ ...signed, timestamp: 'x-time' }) }),
      'verify.timestamp: this name is unknown',
    ],
    [
      'a signature without the body',
      // @ts-expect-error
      hook({ verify: hmac({ ...signed, signs: '{header:x-time}' }) }),
      'verify.signs: expected a text with {body}',
    ],
    [
      'a part with a wrong name',
      hook({ verify: hmac({ ...signed, signs: '{time}.{body}' }) }),
      'verify.signs: expected {body}, {part:<name>} and {header:<name>}',
    ],
    [
      'a time that is not signed',
      hook({ verify: hmac({ ...signed, time: 'header:x-time' }) }),
      'verify.time: expected a part or a header that is also in `signs`',
    ],
    [
      'a verification of its own',
      // @ts-expect-error
      hook({ verify: { header: 'x-signature' } }),
      'verify.by: write hmac({ … }) or token({ … }), or leave verify out for Standard Webhooks',
    ],
    [
      'a challenge with an unknown value',
      // @ts-expect-error
      hook({ challenge: { field: 'challenge', answer: { challenge: '{vale}' } } }),
      "challenge.answer.challenge: expected '{value}' or '{hmac}', found '{vale}'; did you mean '{value}'?",
    ],
    ['a challenge that is nowhere', hook({ challenge: {} as never }), 'challenge: name a field or a header'],
    [
      'an HMAC for a token',
      hook({ verify: token({ header: 'x-token' }), challenge: { field: 'asked', answer: { proof: '{hmac}' } } }),
      'challenge.answer: {hmac} needs verify: hmac({ … })',
    ],
    ['a schedule that is too fine', schedule('5 9 * * *', 'UTC'), 'Its minutes can be 0, 15, 30 and 45'],
  ])('%s is refused when the file is read', (_, on, said) => {
    const read = () => described('mistaken', { on, run: async () => 'done' }, [], exampleConfig());
    expect(read).toThrow(said);
  });

  it.each<[string, Run<typeof on>, string | RegExp]>([
    [
      'an unknown operation',
      async (_, { call }) => {
        // @ts-expect-error
        await call('complete', 'checklist/complete', {});
        return 'done';
      },
      /'complete' calls checklist\/complete, which the relay does not know; there are .*\. To call this path anyway, use send\(\)/,
    ],
    [
      'a creation through call',
      async (_, { call }) => {
        // @ts-expect-error
        await call('defect', 'defects/create', { project_id: PROJECT, title: 'x' });
        return 'done';
      },
      /the step 'defect' calls defects\/create with call\(\); use create\(\)/,
    ],
    [
      'a Date that is kept',
      async (_, { list }) => {
        // @ts-expect-error
        await list('tasks', 'tasks/list', tasks, () => new Date());
        return 'done';
      },
      "the step 'tasks' keeps a Date, which JSON does not have; keep a text or a number instead",
    ],
  ])('%s parks the job', async (_, run, said) => {
    relay = await startRelay({ own: { mistaken: { on, run } } });
    await relay.post('issues', opened);
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ status: 'parked', parked: { reason: expect.stringMatching(said) } }]);
  });

  it('a missing identity is answered with 500, logged with the file, and does not affect other automations', async () => {
    const run = async () => 'done';
    // @ts-expect-error
    const mistaken = github('issues.opened', { input, job: ({ issue }) => ({ input: { title: issue.title } }) });
    const said = 'happened is missing: name what tells this event from any other, such as [release.id]';
    relay = await startRelay({ own: { mistaken: { on: mistaken, run }, other: { on, run } } });
    const { status, answer } = await relay.post('issues', opened);
    expect(status).toBe(500);
    const failed =
      'automations/mistaken.ts failed on this delivery; repair the file, then redeliver it, or send a new event';
    expect(answer.error).toBe(failed);
    const line = { message: 'automations/mistaken.ts failed on an event', error: expect.stringContaining(said) };
    expect(relay.log).toContainEqual(expect.objectContaining(line));
    await relay.workToTheEnd();
    expect(await relay.jobs()).toMatchObject([{ automation: 'other', status: 'succeeded' }]);
  });
});
