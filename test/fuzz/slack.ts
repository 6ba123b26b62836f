import { slackSignature } from '../slack-requests.ts';
import type { VirtualClock } from './clock.ts';

const TEAM_ID = 'T0FUZZ';
/** A reply is given up after this long. */
const TIMEOUT_MS = 20_000;

/** A command that a person typed. */
export interface Typed {
  title: string;
  responseUrl: string;
  form: string;
  /** Whether the person was told that the relay works on it. */
  isAccepted: boolean;
}

/** A workspace in which people type `/pm defect …`. */
export class Slack {
  readonly typed: Typed[] = [];
  /** What people were told, at a response_url or in a direct message. */
  readonly told: { url: string; text: string; isLate: boolean }[] = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  types(): Typed {
    const number = this.typed.length + 1;
    const title = `command ${number}`;
    const responseUrl = `https://hooks.slack.com/commands/${number}`;
    const form = new URLSearchParams({
      command: '/pm',
      text: `defect ${title}`,
      team_id: TEAM_ID,
      user_id: 'U0MIRA001',
      user_name: 'mira',
      channel_id: 'C0PLATFORM',
      trigger_id: `trigger-${number}`,
      response_url: responseUrl,
    });
    const command = { title, responseUrl, form: form.toString(), isAccepted: false };
    this.typed.push(command);
    return command;
  }

  headers(body: string): Record<string, string> {
    const timestamp = Math.floor(this.#clock.now / 1_000);
    return {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': slackSignature(body, timestamp),
    };
  }

  /** @param sentAt when the request was about to leave */
  answer(url: URL, body: string, sentAt: number): Response {
    const isMessage = url.hostname === 'hooks.slack.com' || url.pathname.endsWith('/chat.postMessage');
    const isLate = this.#clock.now > sentAt + TIMEOUT_MS;
    if (isMessage) this.told.push({ url: url.href, text: body, isLate });
    if (url.pathname.endsWith('/conversations.open')) return Response.json({ ok: true, channel: { id: 'D0MIRA' } });
    if (url.pathname.endsWith('/conversations.history')) {
      return Response.json({ ok: true, messages: this.#messages(this.told) });
    }
    return Response.json({ ok: true, channel: 'D0MIRA', ts: '1.1', team_id: TEAM_ID, user: { team_id: TEAM_ID } });
  }

  /** The ids of the direct messages that were sent, but for those of processes that stood still while they left. */
  ids(): string[] {
    return this.#messages(this.told.filter(({ isLate }) => !isLate)).map(({ metadata }) => metadata.event_payload.id);
  }

  #messages(told: Slack['told']): { ts: string; metadata: { event_payload: { id: string } } }[] {
    const sent = told.filter(({ url }) => url.endsWith('/chat.postMessage'));
    return sent.map(({ text }) => ({
      ts: '1.1',
      metadata: JSON.parse(new URLSearchParams(text).get('metadata') ?? '{}'),
    }));
  }
}
