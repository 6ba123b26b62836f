import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SlackSocket, SocketRefused, startSlackSocket } from '../../local/slack-socket.ts';
import { SIGNING_SECRET, startRelay, type TestRelay } from '../relay.ts';
import { GENERAL, MIRA, told } from '../slack-requests.ts';
import { APP_TOKEN, type SocketModeStandIn, startSocketMode } from '../slack-socket-mode.ts';

let relay: TestRelay;
let slack: SocketModeStandIn;
let socket: SlackSocket;
let connections: number;
let errors: unknown[];
/** The status that the relay answers instead. */
let instead: number | undefined;

beforeEach(async () => {
  [connections, errors, instead] = [0, [], undefined];
  [relay, slack] = await Promise.all([startRelay(), startSocketMode()]);
  // Requests are signed with the real time.
  relay.clock.now = Date.now();
});
afterEach(async () => {
  await socket.close();
  await slack.close();
});

function start(change: { appToken?: string; silenceMs?: number; firstPauseMs?: number } = {}): void {
  socket = startSlackSocket({
    apiUrl: slack.apiUrl,
    appToken: APP_TOKEN,
    signingSecret: async () => SIGNING_SECRET,
    async hand(_path, request) {
      if (instead !== undefined) return { status: instead, body: '' };
      const response = await fetch(relay.slackUrl, { method: 'POST', ...request });
      return { status: response.status, body: await response.text() };
    },
    connected: () => {
      connections += 1;
    },
    failed: (error) => void errors.push(error),
    firstPauseMs: 10,
    ...change,
  });
}

const ready = (count = 1) => expect.poll(() => connections).toBe(count);

async function connect(): Promise<void> {
  start();
  await ready();
}

let number = 0;
function command(text: string): { envelope_id: string } {
  number += 1;
  return {
    envelope_id: `envelope-${number}`,
    type: 'slash_commands',
    accepts_response_payload: true,
    payload: {
      command: '/pm',
      text,
      team_id: 'T0RELAY01',
      user_id: MIRA,
      channel_id: GENERAL,
      is_enterprise_install: 'false',
      trigger_id: relay.slack.makeTriggerId(MIRA),
      response_url: relay.slack.makeResponseUrl({ userId: MIRA, channelId: GENERAL }),
    },
  } as { envelope_id: string };
}

/** Slack sends an envelope. @returns the relay's acknowledgement */
async function acknowledged(envelope: { envelope_id: string }) {
  slack.send(envelope);
  const { envelope_id } = envelope;
  const own = () => slack.acknowledged.find((one) => one.envelope_id === envelope_id);
  await expect.poll(own).toBeDefined();
  return own();
}

describe('Socket Mode', () => {
  it('a command goes through the webhook, and its answer is the payload of the acknowledgement', async () => {
    await connect();
    expect(JSON.stringify(await acknowledged(command('done 101')))).toContain('Working on it');
    expect(await relay.jobs()).toHaveLength(1);
    await relay.workToTheEnd();
    expect(told(relay).join()).toContain('101');
  });

  it('an interaction goes through the webhook', async () => {
    await connect();
    const shortcut = {
      envelope_id: 'shortcut',
      type: 'interactive',
      payload: {
        type: 'message_action',
        callback_id: 'create-defect',
        trigger_id: relay.slack.makeTriggerId(MIRA),
        response_url: relay.slack.makeResponseUrl({ userId: MIRA, channelId: GENERAL }),
        user: { id: MIRA, name: 'mira' },
        channel: { id: GENERAL, name: 'general' },
        team: { id: 'T0RELAY01', domain: 'example' },
        message: { type: 'message', user: MIRA, ts: '1763632800.000100', text: 'It is broken' },
      },
    };
    expect(await acknowledged(shortcut)).toEqual({ envelope_id: 'shortcut' });
    expect(relay.slack.views).toHaveLength(1);
  });

  it('a request that the relay did not accept is not acknowledged', async () => {
    await connect();
    instead = 500;
    slack.send(command('done 101'));
    await expect.poll(() => errors.length).toBe(1);
    instead = undefined;
    await acknowledged(command('done 102'));
    expect(slack.acknowledged).toHaveLength(1);
    expect(String(errors)).toContain('the relay answered 500');
  });

  it('an event that the relay does not use is acknowledged, so that Slack does not send it again', async () => {
    await connect();
    const event = { envelope_id: 'event', type: 'events_api', payload: { event: { type: 'app_mention' } } };
    expect(await acknowledged(event)).toEqual({ envelope_id: 'event' });
    expect(await relay.jobs()).toEqual([]);
  });

  it.each([
    ['is cut', () => slack.cut()],
    ['is about to end', () => slack.send({ type: 'disconnect', reason: 'refresh_requested' })],
  ])('the next connection is opened if one %s', async (_, end) => {
    await connect();
    end();
    await ready(2);
    await acknowledged(command('done 101'));
  });

  it('a connection is replaced after a long silence', async () => {
    start({ silenceMs: 50 });
    await expect.poll(() => connections).toBeGreaterThan(2);
  });

  it('it reports and pauses if a connection ends right after the greeting', async () => {
    start({ firstPauseMs: 2_000 });
    await ready();
    slack.cut();
    await expect.poll(() => String(errors[0])).toContain('ended right after it was opened');
    expect(slack.urls).toBe(1);
  });

  it('it tries again while Slack cannot be reached', async () => {
    slack.refusal = 'internal_error';
    start();
    await expect.poll(() => errors.length).toBeGreaterThan(2);
    slack.refusal = undefined;
    await ready();
  });

  const turnedOff = async () => {
    await connect();
    slack.send({ type: 'disconnect', reason: 'link_disabled' });
  };
  it.each([
    ['the token', () => start({ appToken: 'xoxb-not-for-this' }), 'Slack refuses SLACK_APP_TOKEN (invalid_auth)'],
    ['Socket Mode', turnedOff, 'Socket Mode is off for the app'],
  ])('it stops if Slack refuses %s', async (_, begin, why) => {
    await begin();
    await expect.poll(() => errors).toEqual([expect.any(SocketRefused)]);
    expect(String(errors)).toContain(why);
    expect(String(errors)).not.toContain('xoxb');
  });
});
