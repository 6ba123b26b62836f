import { defectJobs } from '../../lib/automations/create-defect/command.ts';
import { jobId } from '../../lib/engine/record/job.ts';
import { type Posted, slackRequest } from '../requests.ts';
import type { VirtualClock } from './clock.ts';

const TEAM_ID = 'T0FUZZ';

/** A command that a person typed. */
export interface Typed {
  job: string;
  /** Of the defect that it asks for, if it does. */
  title: string | undefined;
  responseUrl: string;
  form: Record<string, string>;
  /** Whether the person was told that the relay works on it. */
  isAccepted: boolean;
}

/** A message with buttons. */
interface Question {
  blocks: { type: string; elements?: { text: { text: string }; value: string }[] }[];
}

/** A workspace in which people type commands. */
export class Slack {
  readonly typed: Typed[] = [];
  /** What people were told, at a response_url or in a direct message. */
  readonly told: { url: string; text: string }[] = [];
  readonly #clock: VirtualClock;
  #pressed = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** @param kind of the job that the command makes */
  types(text: string, { name }: { name: string }, title?: string): Typed {
    const number = this.typed.length + 1;
    const responseUrl = `https://hooks.slack.com/commands/${number}`;
    const form = {
      command: '/pm',
      text,
      team_id: TEAM_ID,
      user_id: 'U0MIRA001',
      user_name: 'mira',
      channel_id: 'C0PLATFORM',
      trigger_id: `trigger-${number}`,
      response_url: responseUrl,
    };
    const job = jobId(name, `trigger-${number}`);
    const command = { job, title, responseUrl, form, isAccepted: false };
    this.typed.push(command);
    return command;
  }

  typesDefect(): Typed {
    const title = `command ${this.typed.length + 1}`;
    return this.types(`defect ${title}`, defectJobs, title);
  }

  /** The questions with their buttons, which stay as they were. */
  questions(): Question[] {
    const sent = this.told.filter(({ url }) => url.endsWith('/chat.postMessage'));
    return sent.flatMap(({ text }) => {
      const blocks: Question['blocks'] = JSON.parse(new URLSearchParams(text).get('blocks') ?? '[]');
      return blocks.some(({ type }) => type === 'actions') ? [{ blocks }] : [];
    });
  }

  /** @returns the job that asks, the text of the button, and the request that Slack sends */
  presses({ blocks }: Question, choice: number, userId: string) {
    const buttons = blocks.flatMap(({ elements = [] }) => elements);
    const button = buttons[choice % buttons.length];
    const url = `https://hooks.slack.com/actions/${++this.#pressed}`;
    const payload = {
      type: 'block_actions',
      team: { id: TEAM_ID },
      user: { id: userId, name: userId === 'U0MIRA001' ? 'mira' : 'tomasz' },
      channel: { id: 'D0MIRA' },
      trigger_id: `pressed-${this.#pressed}`,
      response_url: url,
      message: { blocks },
      actions: [button],
    };
    const told = () =>
      this.told.flatMap((one) =>
        one.url === url ? (/:white_check_mark: mira: (\w+)/.exec(one.text)?.[1] ?? []) : [],
      )[0];
    const { job } = JSON.parse(button?.value ?? '{}');
    const posted = slackRequest({ payload: JSON.stringify(payload) }, this.#clock.now);
    return { job: String(job), answer: button?.text.text ?? '', told, posted };
  }

  posted({ form }: Typed): Posted {
    return slackRequest(form, this.#clock.now);
  }

  answer(url: URL, body: string): Response {
    const isMessage = url.hostname === 'hooks.slack.com' || url.pathname.endsWith('/chat.postMessage');
    if (isMessage) this.told.push({ url: url.href, text: body });
    if (url.pathname.endsWith('/conversations.open')) return Response.json({ ok: true, channel: { id: 'D0MIRA' } });
    if (url.pathname.endsWith('/conversations.history')) {
      return Response.json({ ok: true, messages: this.#messages() });
    }
    const user = { id: 'U0MIRA001', team_id: TEAM_ID, profile: { display_name: 'Mira Novak' } };
    return Response.json({ ok: true, channel: 'D0MIRA', ts: `1.${this.#messages().length}`, team_id: TEAM_ID, user });
  }

  /** The ids of the direct messages that were sent. */
  ids(): string[] {
    return this.#messages().map(({ metadata }) => metadata.event_payload.id);
  }

  #messages(): { ts: string; metadata: { event_payload: { id: string } } }[] {
    const sent = this.told.filter(({ url }) => url.endsWith('/chat.postMessage'));
    return sent.map(({ text }, index) => ({
      ts: `1.${index + 1}`,
      metadata: JSON.parse(new URLSearchParams(text).get('metadata') ?? '{}'),
    }));
  }
}
