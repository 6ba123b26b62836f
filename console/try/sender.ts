import { createHmac, randomUUID } from 'node:crypto';
import { exampleDelivery } from '../../cli/example-delivery.ts';
import { renderMessage } from '../../local/slack/render.ts';
import { buttonForm, commandForm, slackHeaders, submissionForm } from '../../local/slack/requests.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';
import type { TryAction, TryExample } from '../contract.ts';

/** How the screen Try reaches the relay: as GitHub and Slack do. */
export interface SenderOptions {
  clock: () => number;
  /** Where the relay takes requests. Known once it listens. */
  addresses: () => { github: string; commands: string; interactions: string };
  webhookSecret: string;
  /** Undefined without Slack in relay.config.ts. The stand-in is undefined if the relay uses Slack itself. */
  slack?: { signingSecret: string; standIn?: SlackStandIn | undefined } | undefined;
}

/** Each method returns what happened, in words, and throws an Error that says what is wrong with what it was given. */
export interface Sender {
  examples(): TryExample[];
  sendEvent(event: string, body: string): Promise<string>;
  sendCommand(text: string, user?: string): Promise<string>;
  press(pressed: Omit<Extract<TryAction, { do: 'press' }>, 'do'>): Promise<string>;
  submit(viewId: string, values: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Who gives a command, and where: the stand-in knows both. */
const USER = 'U0MIRA001';
const CHANNEL = 'C0GENERAL';

const EVENTS = [
  { event: 'issues', action: 'opened', title: 'An issue is opened' },
  { event: 'issues', action: 'closed', title: 'The issue that you sent last is closed' },
  { event: 'issues', action: 'edited', title: 'The issue that you sent last is edited' },
  { event: 'issues', action: 'labeled', title: 'The issue that you sent last gets a label' },
  { event: 'issue_comment', action: 'created', title: 'A comment is written' },
  { event: 'pull_request', action: 'closed', title: 'A pull request is closed' },
] as const;

const COMMANDS = [
  { title: 'Time is logged', body: '/pm log 1h30m "Login with passkeys" wrote tests' },
  { title: 'A task is looked for', body: '/pm find login' },
  { title: 'A defect is reported in a form', body: '/pm defect' },
  { title: 'Checklist items are completed', body: '/pm done 101' },
  { title: 'The state of one’s requests is asked for', body: '/pm status' },
  { title: 'All commands are listed', body: '/pm help' },
] as const;

export function createSender({ clock, addresses, webhookSecret, slack }: SenderOptions): Sender {
  let lastIssue: number | undefined;

  function examples(): TryExample[] {
    const events = EVENTS.map(({ event, action, title }) => {
      const issue = event === 'issues' && action !== 'opened' ? lastIssue : undefined;
      const body = JSON.stringify(exampleDelivery(event, action, issue), null, 2);
      return { id: `${event} ${action}`, title, event, body };
    });
    return [...events, ...(slack?.standIn ? COMMANDS.map((command) => ({ id: command.body, ...command })) : [])];
  }

  async function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
    const response = await fetch(url, { method: 'POST', headers, body });
    const answer = await response.text();
    if (!response.ok) throw new Error(`the relay refused it with ${response.status}: ${answer.trim()}`);
    return answer;
  }

  function toSlack(url: string, signingSecret: string, form: URLSearchParams): Promise<string> {
    const body = form.toString();
    return post(url, slackHeaders(body, signingSecret, clock()), body);
  }

  return {
    examples,
    async sendEvent(event, body) {
      const { issue } = parsed(body);
      const answer = await post(
        addresses().github,
        {
          'content-type': 'application/json',
          'user-agent': 'GitHub-Hookshot/partner-relay',
          'x-github-event': event,
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
        },
        body,
      );
      if (event === 'issues' && typeof issue?.number === 'number') lastIssue = issue.number;
      return acceptedInWords(JSON.parse(answer));
    },
    async sendCommand(text, user = USER) {
      const { signingSecret, standIn } = standInOf(slack);
      const form = commandForm(standIn, text, { userId: user, channelId: CHANNEL });
      return shown(await toSlack(addresses().commands, signingSecret, form));
    },
    async press({ channel, ts, ...action }) {
      const { signingSecret, standIn } = standInOf(slack);
      const message = standIn.messages.find((one) => one.channel === channel && one.ts === ts);
      if (!message) throw new Error('there is no such message');
      const form = buttonForm(standIn, message, action, message.userId ?? USER);
      return shown(await toSlack(addresses().interactions, signingSecret, form));
    },
    async submit(viewId, values) {
      const { signingSecret, standIn } = standInOf(slack);
      const view = standIn.views.find(({ id }) => id === viewId);
      if (!view) throw new Error('the form is closed already');
      const answer = await toSlack(addresses().interactions, signingSecret, submissionForm(standIn, view, values));
      const { errors } = (answer === '' ? {} : JSON.parse(answer)) as { errors?: Record<string, string> };
      if (errors) throw new Error(Object.values(errors).join(' '));
      const place = standIn.views.indexOf(view);
      if (place >= 0) standIn.views.splice(place, 1);
      return 'The form is sent and closed. The outcome arrives as a message.';
    },
  };
}

function standInOf(slack: SenderOptions['slack']) {
  if (!slack) throw new Error('relay.config.ts has no slack');
  const { signingSecret, standIn } = slack;
  if (!standIn) throw new Error('this relay uses Slack itself; give commands there');
  return { signingSecret, standIn };
}

function parsed(body: string): { issue?: { number?: unknown } } {
  const payload: unknown = JSON.parse(body);
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload;
  throw new Error('the payload of an event is a JSON object');
}

function acceptedInWords({
  jobs = [],
  repeat,
  ignored,
}: {
  jobs?: string[];
  repeat?: boolean;
  ignored?: string;
}): string {
  if (ignored !== undefined) return `The relay takes no notice of it: ${ignored}`;
  const made = jobs.length === 1 ? `The job ${jobs[0]}` : `The jobs ${jobs.join(', ')}`;
  return repeat ? `${made} had it already.` : `${made} took it.`;
}

/** What the person reads at once. */
function shown(answer: string): string {
  if (answer === '') return 'The relay is working on it, or has opened a form.';
  const { text = '', blocks } = JSON.parse(answer) as { text?: string; blocks?: [] };
  return blocks ? renderMessage({ text, blocks }) : text;
}
