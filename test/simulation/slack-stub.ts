import type { VirtualTime } from '../service/budget/virtual-time.ts';
import { TEAM_ID } from './events.ts';

/** A message that a person got. */
export interface Told {
  responseUrl: string;
  /** Virtual time. */
  at: number;
  text: string;
}

/** How long Slack takes to answer, in milliseconds. */
const LATENCY_MS = [30, 200] as const;

/** Slack, as far as replies to commands go. */
export class SlackStub {
  readonly told: Told[] = [];
  readonly #time: VirtualTime;
  readonly #random: () => number;

  constructor(time: VirtualTime, random: () => number) {
    this.#time = time;
    this.#random = random;
  }

  async fetch(url: URL, body: string): Promise<Response> {
    const [from, to] = LATENCY_MS;
    await this.#time.sleep(from + this.#random() * (to - from));
    if (url.hostname === 'hooks.slack.com') {
      const { text } = JSON.parse(body) as { text: string };
      this.told.push({ responseUrl: url.href, at: this.#time.now, text });
    }
    return Response.json({ ok: true, channel: 'D0SIM', ts: '1.1', team_id: TEAM_ID, user: { team_id: TEAM_ID } });
  }
}
