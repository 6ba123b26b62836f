import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { slackManifest } from '../../cli/slack-manifest.ts';
import type { Failure } from '../../local/slack/failures.ts';
import type { SlackMessage } from '../../local/slack/workspace.ts';
import { PLATFORM } from '../slack-requests.ts';
import type { TeamInput } from '../timesheets/team.ts';
import { DAY, mrkdwnOf, people, startFriday, type TeamRelay, timesheets, WEEK } from './timesheet-team.ts';

const { aisha, lucas, mira, tomasz } = people;
const [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY] = WEEK;

let relay: TeamRelay;
/** Starts on the Monday after that week, when its summary is due. */
const start = async (
  change: Partial<TeamInput> = {},
  people: 'all' | string[] = [mira.email, tomasz.email, aisha.email],
) => {
  relay = await startFriday(timesheets({ people, summary: { channel: PLATFORM }, ...change }));
  relay.clock.now = Date.parse('2026-11-23T09:00+01:00');
};
beforeEach(() => start());

const summaries = (): SlackMessage[] => relay.slack.messages.filter(({ channel }) => channel === PLATFORM);
/** The lines about people. */
const lines = () =>
  summaries().flatMap((message) =>
    mrkdwnOf(message)
      .split('\n')
      .filter((line) => line.startsWith('`')),
  );

const lost = { method: 'chat.postMessage', kind: 'cut', when: 'after work' } as const;

describe('the summary', () => {
  it('the summary lists who was complete and who was short last week, the shortest first, with bars', async () => {
    await start(
      {
        partTime: [
          { email: aisha.email, hours: { mon: 4 } },
          { email: lucas.email, hours: {} },
        ],
        quiet: [tomasz.email],
      },
      [mira.email, tomasz.email, aisha.email, lucas.email, 'integration@example.com'],
    );
    relay.logsWeek(mira);
    relay.logs(tomasz, 6, { date: MONDAY });
    relay.logs(tomasz, 8, { date: '2026-11-15' });
    relay.logs(tomasz, 8, { date: '2026-11-23' });
    relay.logs(aisha, 3, { date: MONDAY });
    relay.logs(aisha, 2, { date: '2026-11-22' });
    for (let ticks = 0; ticks < 2; ticks++) await relay.remind();
    const counted = 'Team platform, Monday 16 November to Sunday 22 November: 2 of 4 timesheets are complete';
    expect(summaries()).toMatchObject([{ kind: 'message', text: counted }]);
    expect(mrkdwnOf(summaries()[0] ?? {}).split('\n')).toEqual([
      `*${counted}*`,
      '`░░░░░░░░░░ Integration User` 0h of 38h30m, *38h30m short*',
      '`█░░░░░░░░░ Tomasz Zielinski` 6h of 38h30m, *32h30m short*',
      '`██████████ Aisha Rahman` 5h of 4h',
      '`██████████ Mira Novak` 38h30m of 38h30m',
    ]);
    expect(await relay.outcomes('timesheet-summary')).toEqual([
      `sent the summary of the week from ${MONDAY} to ${PLATFORM}`,
    ]);
    expect(relay.calls()).toEqual({ '/users/list': 1, '/timelogs/list': 1 });
  });

  it.each<[string, ...Failure[]]>([
    ['Slack is well'],
    ['the answer to the first is lost', lost],
    // The first message is found again, so the next failure is the second message's.
    ['and then the second is refused for now', lost, { method: 'chat.postMessage', kind: 'server-error' }],
    ['Slack wants fewer of them', { method: 'chat.postMessage', kind: 'rate-limited', retryAfterSeconds: 1 }],
  ])('a long summary is split into several messages, with each person once: %s', async (_, ...failures) => {
    await start({}, 'all');
    relay.sandbox.data.users.length = 0;
    const everybody = Array.from({ length: 250 }, (_, number) => {
      const person = relay.join(`${'Maximiliana-Josephine '.repeat(2)}${number}`);
      relay.logs(person, number / 50, { date: MONDAY });
      return person;
    });
    for (const failure of failures) relay.slack.fail(failure);
    await relay.remind();
    const counted = 'Team platform, Monday 16 November to Sunday 22 November: 0 of 250 timesheets are complete';
    const texts = [counted, ...[2, 3].map((part) => `${counted} (${part} of 3)`)];
    expect(summaries().map(({ text }) => text)).toEqual(texts);
    expect(lines().map((line) => /^`\S+ (.*)` /.exec(line)?.[1])).toEqual(everybody.map(({ name }) => name));
  });

  it('a summary is posted once, even if its answer was lost five times while others write in the channel', async () => {
    relay.slack.grant(slackManifest(relay.runtime.config, 'Partner Relay', 'https://relay').oauth_config.scopes.bot);
    relay.slack.fail({ ...lost, times: 5 });
    await relay.fire('due-schedules');
    await relay.work();
    for (let number = 0; number < 450; number++) {
      const ts = `${Math.floor(relay.clock.now / 1000)}.${String(number).padStart(6, '0')}`;
      relay.slack.messages.push({ kind: 'message', channel: PLATFORM, ts, text: 'hello', at: relay.clock.now });
    }
    await relay.workToTheEnd();
    expect(summaries().filter(({ text }) => text !== 'hello')).toHaveLength(1);
    expect(await relay.outcomes('timesheet-summary')).toEqual([
      `sent the summary of the week from ${MONDAY} to ${PLATFORM}`,
    ]);
  });

  it('a summary is parked and not posted again if its answer was lost and the app may not search for it', async () => {
    relay.slack.grant(['chat:write']);
    relay.slack.fail(lost);
    await relay.remind();
    expect(summaries()).toHaveLength(1);
    expect(await relay.outcomes('timesheet-summary')).toEqual([
      'parked: Slack refuses conversations.history: missing_scope: give the app the scopes that npx partner-relay slack-manifest prints, and install it again',
    ]);
    relay.slack.grant(['chat:write', 'channels:history']);
    await relay.replay();
    expect(summaries()).toHaveLength(1);
  });

  it('the summary names configured addresses that no user of the service has', async () => {
    await start({}, [mira.email, 'ab@example.org']);
    await relay.remind();
    expect(mrkdwnOf(summaries()[0] ?? {})).toContain(
      ':warning: No user of the service has the address `ab@example.org`. Ask your administrator to correct it.',
    );
  });

  it('each person has one line, and no name can ping, link or format', async () => {
    await start({}, 'all');
    const name = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
      fc.string({ unit: fc.constantFrom('&', '`', '*', '\n', '🏳️‍🌈', 'Ł', 'a'), minLength: 1, maxLength: 100 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 20, maxLength: 40 }), async (names) => {
        relay.sandbox.data.users.length = 0;
        for (const one of names) relay.join(one);
        relay.clock.now += 7 * DAY;
        relay.slack.messages.length = 0;
        await relay.remind();
        const [counted, ...read] = summaries().flatMap((message) => mrkdwnOf(message).split('\n'));
        expect(counted).toContain(`0 of ${names.length} timesheets`);
        // A span of code shows characters unformatted, and no character ends it.
        expect(read).toEqual(
          names.map(() => expect.stringMatching(/^`░{10} [^`<>]+` 0h of 38h30m, \*38h30m short\*$/)),
        );
      }),
      { numRuns: 3, examples: [[Array(30).fill('&'.repeat(60))], [['<!channel>', '<https://a.b|me>', '`*_Zed_*`']]] },
    );
  });

  it('the summary names people with unreadable entries, and calls them neither complete nor short', async () => {
    relay.logsWeek(tomasz);
    relay.logs(mira, 4);
    relay.logs(mira, 'a while');
    relay.logs(mira, 'all day');
    await relay.remind();
    expect(summaries()[0]?.text).toMatch(/: 1 of 3 timesheets/);
    expect(lines()).toContain('`█░░░░░░░░░ Mira Novak` 4h of 38h30m (:warning: 2 unreadable)');
  });

  it('the summary of a week without a working day names nobody', async () => {
    await start({ holidays: [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY] });
    await relay.remind();
    expect(summaries().map(({ text }) => text)).toEqual([expect.stringMatching(/: 0 of 0 timesheets/)]);
    expect(lines()).toEqual([]);
  });

  it.each([
    ['not_in_channel', 'invite the app to the channel'],
    [
      'channel_not_found',
      'correct the channel in relay.config.ts or in your automation, or invite the app to it if it is private',
    ],
    ['invalid_auth', 'enter the bot token of an app that is installed, with npx partner-relay secrets set slack'],
    ['messages_tab_disabled', "switch on the messages tab of the app's home"],
    ['invalid_blocks', 'check the token and the scopes of the Slack app'],
  ])('a summary that Slack refuses waits for a person, and says what to do: %s', async (error, remedy) => {
    relay.slack.fail({ method: 'chat.postMessage', kind: 'error', error });
    await relay.remind();
    const refused = `parked: Slack refuses chat.postMessage: ${error}: ${remedy}`;
    expect(await relay.outcomes('timesheet-summary')).toEqual([refused]);
    expect(relay.slack.messages).toEqual([]);
  });
});
