import { defectJobs } from '../../lib/automations/create-defect/command.ts';
import { jobId } from '../../lib/engine/record/job.ts';
import type { Answer } from '../../local/slack/answer.ts';
import { commandForm } from '../../local/slack/requests.ts';
import { createSlackStandIn, type SlackCall } from '../../local/slack/stand-in.ts';
import { directMessage, TEAM_ID } from '../../local/slack/workspace.ts';
import { type Posted, slackRequest } from '../requests.ts';
import type { VirtualClock } from './clock.ts';

export const BOT_TOKEN = 'xoxb-test';
export const MIRA = 'U0MIRA001';

/** A command that a person typed. */
export interface Typed {
  job: string;
  /** The title of the defect that it asks for, if it does. */
  title: string | undefined;
  responseUrl: string;
  form: URLSearchParams;
  /** Whether Slack told the person that the relay works on it. */
  isAccepted: boolean;
}

/** A message with buttons. */
interface Question {
  blocks: { type: string; elements?: { text: { text: string }; value: string }[] }[];
}

/** A workspace where people type commands. */
export class Slack {
  readonly typed: Typed[] = [];
  /** The messages to people, at a response_url or in a direct message. */
  readonly told: { url: string; text: string }[] = [];
  readonly standIn: ReturnType<typeof createSlackStandIn>;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    const options = { clock: () => clock.now, botToken: BOT_TOKEN };
    const called = ({ method, url, body }: SlackCall, answer: Answer | undefined) => {
      const isMessage = method === 'response_url' || method === 'chat.postMessage';
      if (isMessage && isDone(answer)) this.told.push({ url, text: body });
    };
    this.standIn = createSlackStandIn({ ...options, called }, 'https://slack.example');
  }

  /** @param kind of the job that the command makes */
  types(text: string, { name }: { name: string }, title?: string): Typed {
    const form = commandForm(this.standIn.slack, `/pm ${text}`, { userId: MIRA, channelId: 'C0PLATFORM' });
    const responseUrl = form.get('response_url') ?? '';
    const job = jobId(name, form.get('trigger_id') ?? '');
    const command = { job, title, responseUrl, form, isAccepted: false };
    this.typed.push(command);
    return command;
  }

  typesDefect(): Typed {
    const title = `command ${this.typed.length + 1}`;
    return this.types(`defect ${title}`, defectJobs, title);
  }

  /** The questions with their original buttons. */
  questions(): Question[] {
    const sent = this.told.filter(({ url }) => url.endsWith('/chat.postMessage'));
    return sent.flatMap(({ text }) => {
      const blocks: Question['blocks'] = JSON.parse(new URLSearchParams(text).get('blocks') ?? '[]');
      return blocks.some(({ type }) => type === 'actions') ? [{ blocks }] : [];
    });
  }

  /** @returns the asking job, the button's text, and Slack's request */
  presses({ blocks }: Question, choice: number, userId: string) {
    const buttons = blocks.flatMap(({ elements = [] }) => elements);
    const button = buttons[choice % buttons.length];
    const { slack } = this.standIn;
    const channelId = directMessage(MIRA);
    const url = slack.makeResponseUrl({ userId, channelId });
    const payload = {
      type: 'block_actions',
      team: { id: TEAM_ID },
      user: { id: userId, name: userId },
      channel: { id: channelId },
      trigger_id: slack.makeTriggerId(userId),
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

  /** The ids of the sent messages. */
  ids(): string[] {
    const sent = this.told.filter(({ url }) => url.endsWith('/chat.postMessage'));
    return sent.map(({ text }) => JSON.parse(new URLSearchParams(text).get('metadata') ?? '{}').event_payload.id);
  }
}

const isDone = (answer: Answer | undefined) => answer?.status === 200 && !answer.body.includes('"ok":false');
