import { beforeEach, describe, expect, it } from 'vitest';
import type { RelayConfigInput } from '../../lib/config/schema.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay, type TestRelayOptions } from '../relay.ts';
import { MIRA, NOBODY, PLATFORM } from '../slack-people.ts';
import { ask, command, commandForm, interact, postToSlack, press, shortcut, submit } from '../slack-requests.ts';

type Access = NonNullable<RelayConfigInput['slack']>['access'];

const ELSEWHERE = 'T0ELSEWHERE';
const WORKING = 'Working on it';

let relay: TestRelay;
const start = async (access: Access = {}, options: TestRelayOptions = {}) => {
  relay = await startRelay({ config: exampleConfig({}, { slack: { access } }), ...options });
};
beforeEach(() => start());
const calls = (of: string) => relay.slack.calls.filter(({ method }) => method === of).length;

describe('a request of another workspace', () => {
  it('a request of another workspace, or of none, is refused, and the next one of the own workspace is not', async () => {
    await ask(relay, 'find login');
    const found = relay.slack.messages.at(-1);
    await ask(relay, 'defect', { channelId: PLATFORM });
    const before = [(await relay.jobs()).length, relay.slack.views.length];
    const teamId = ELSEWHERE;
    for (const typed of ['done 101', 'defect', 'status', 'help']) {
      expect((await command(relay, typed, { teamId })).text).toBe(
        ':warning: Partner Relay belongs to another workspace.',
      );
    }
    const form = commandForm(relay, 'done 101');
    form.delete('team_id');
    expect((await postToSlack(relay, form.toString())).text).toContain('belongs to another workspace');
    await shortcut(relay, 'Login fails', { teamId });
    if (found) await press(relay, found, 'Log time', { teamId });
    expect(relay.told().slice(-2)).toEqual(Array(2).fill(':warning: Partner Relay belongs to another workspace.'));
    expect(await submit(relay, relay.lastView(), { title: 'Login fails', project: PROJECT }, { teamId })).toEqual({
      title: 'Partner Relay belongs to another workspace.',
    });
    expect([(await relay.jobs()).length, relay.slack.views.length]).toEqual(before);
    expect((await command(relay, 'done 101')).text).toContain(WORKING);
  });

  it('Slack is asked about the workspace at most once a minute', async () => {
    for (let times = 0; times < 3; times++) await command(relay, 'help', { teamId: ELSEWHERE });
    expect(calls('auth.test')).toBe(1);
    relay.clock.now += 60_000;
    relay.slack.installation.teamId = ELSEWHERE;
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { team_id: ELSEWHERE });
    expect((await command(relay, 'help', { teamId: ELSEWHERE })).text).toContain('/pm help');
    expect((await command(relay, 'help')).text).toContain('belongs to another workspace');
    expect(calls('auth.test')).toBe(2);
  });

  it('a request of the same organization is accepted if the app is installed for all of it', async () => {
    Object.assign(relay.slack.installation, { enterpriseId: 'E0ORG', isEnterpriseInstall: true });
    const form = commandForm(relay, 'help', { teamId: ELSEWHERE });
    expect((await postToSlack(relay, form.toString())).text).toContain('belongs to another workspace');
    form.set('enterprise_id', 'E0ORG');
    relay.clock.now += 60_000;
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { team_id: 'T0THIRD', enterprise_id: 'E0ORG' });
    expect((await postToSlack(relay, form.toString())).text).toContain('/pm help');
    const view = { id: 'V1', callback_id: 'survey', state: { values: {} } };
    const sent = { type: 'view_submission', team: null, enterprise: { id: 'E0ORG' }, user: { id: MIRA }, view };
    expect((await interact(relay, sent)).status).toBe(400);
  });
});

describe('a person who is not a full member', () => {
  const guest = ':warning: Guests may not use Partner Relay; your Partner Relay administrator can change that.';
  const stranger =
    ':warning: People of other workspaces may not use Partner Relay; your Partner Relay administrator can change that.';
  it.each([
    ['a guest of several channels', { is_restricted: true }, 'guests', guest],
    ['a guest of one channel', { is_restricted: true, is_ultra_restricted: true }, 'guests', guest],
    ['a stranger in a shared channel', { is_stranger: true, team_id: ELSEWHERE }, 'strangers', stranger],
    ['somebody of another workspace', { team_id: ELSEWHERE }, 'strangers', stranger],
  ] as const)('may do nothing unless allowed: %s', async (_, is, option, refusal) => {
    for (const access of [{}, { guests: true, strangers: true, [option]: false }]) {
      await start(access);
      Object.assign(relay.slack.users.get(NOBODY) ?? {}, is);
      for (const typed of ['done 101', 'defect', 'status']) {
        expect((await command(relay, typed, { userId: NOBODY })).text).toBe(refusal);
      }
      expect([await relay.jobs(), relay.slack.views, relay.sandbox.requests]).toEqual([[], [], 0]);
      expect((await command(relay, 'done 101')).text).toContain(WORKING);
    }
    await start({ [option]: true });
    Object.assign(relay.slack.users.get(NOBODY) ?? {}, is);
    expect((await command(relay, 'done 101', { userId: NOBODY })).text).toContain(WORKING);
  });

  it('a stranger may send requests from their own workspace if strangers are allowed and Slack shows them', async () => {
    await start({ strangers: true });
    Object.assign(relay.slack.users.get(NOBODY) ?? {}, { is_stranger: true, team_id: ELSEWHERE });
    const from = { teamId: ELSEWHERE };
    // The relay does not take them for the owner of their address.
    expect((await ask(relay, 'log 1h 4711', { ...from, userId: NOBODY })).inTheEnd).toContain(
      'Slack does not show yours',
    );
    for (const userId of ['U0SOMEONE', MIRA]) {
      const asked = { ...from, userId, triggerId: '1.1', responseUrl: 'https://hooks.slack.com/1' };
      expect((await command(relay, 'find login', asked)).text).toContain('belongs to another workspace');
    }
  });

  it('a new guest is noticed within an hour, and Slack is asked once an hour', async () => {
    expect((await command(relay, 'find login')).text).toContain(WORKING);
    await relay.work();
    Object.assign(relay.slack.users.get(MIRA) ?? {}, { is_restricted: true });
    relay.clock.now += 3_599_000;
    expect((await command(relay, 'find login')).text).toContain(WORKING);
    expect(calls('users.info')).toBe(1);
    relay.clock.now += 1_000;
    expect((await command(relay, 'find login')).text).toBe(guest);
  });

  it.each([
    ['does not answer', { kind: 'server-error' }, 'Slack did not confirm your permission in time.'],
    ['wants fewer calls', { kind: 'rate-limited' }, 'Slack did not confirm your permission in time.'],
    ['does not let it', { kind: 'error', error: 'missing_scope' }, 'Slack refused the question (missing_scope). Tell'],
    ['does not show them', { kind: 'error', error: 'user_not_visible' }, 'Partner Relay cannot see your Slack profile'],
  ] as const)('may be anyone if Slack %s: nothing is done', async (_, failure, said) => {
    relay.slack.fail({ method: 'users.info', ...failure });
    expect((await command(relay, 'done 101')).text).toContain(said);
    expect(await relay.jobs()).toEqual([]);
  });

  it('without a token only the people listed in people may ask', async () => {
    const people = [{ slack: MIRA, email: 'mira.novak@example.com' }];
    const slack = { signingSecret: '8f742231b10e8888abcd99yyyzzz85a5' };
    await start({}, { config: exampleConfig({}, { people }), slack });
    expect((await command(relay, 'done 101', { userId: NOBODY })).text).toContain('has no token for the Slack app yet');
    expect((await command(relay, 'done 101')).text).toContain(WORKING);
  });
});

describe('if only people whom the service knows may ask', () => {
  it('a person unknown to the service may do nothing', async () => {
    await start({ knownOnly: true });
    const { inTheEnd } = await ask(relay, 'done 101', { userId: NOBODY });
    expect(inTheEnd).toContain('No user of the service has your e-mail address.');
    expect(relay.sandbox.audit.map(({ endpoint }) => endpoint)).toEqual(['/users/list']);
    expect((await ask(relay, 'done 101')).inTheEnd).toContain('Completed checklist item 101');
  });

  it('a form opens once the person is known', async () => {
    await start({ knownOnly: true });
    const said = [];
    for (const userId of [NOBODY, MIRA]) {
      expect((await command(relay, 'defect', { userId })).text).toContain('Partner Relay is looking up your user');
      await relay.work();
      said.push(relay.told().at(-1));
      await command(relay, 'defect', { userId });
    }
    expect(said).toEqual([
      expect.stringContaining('No user of the service has your e-mail address.'),
      expect.stringContaining('knows who you are now: try again'),
    ]);
    expect(relay.slack.views.map(({ userId }) => userId)).toEqual([MIRA]);
  });
});

it('a foreign response_url is not called, and the outcome is a direct message', async () => {
  const called: string[] = [];
  const { fetch } = relay.runtime;
  relay.runtime.fetch = async (input, init) => {
    called.push(String(input));
    return fetch(input, init);
  };
  for (const responseUrl of ['https://hooks.slack.com.example.org/1', 'http://127.0.0.1:1/response/1']) {
    await command(relay, `done 10${responseUrl.length % 3}`, { responseUrl });
  }
  await relay.work();
  expect(called.filter((url) => /example\.org|:1\//.test(url))).toEqual([]);
  expect(relay.slack.messages.map(({ kind }) => kind)).toEqual(['message', 'message']);
});
