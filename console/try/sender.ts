import { findNewJobs } from '../../lib/engine/operate/find-jobs.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { Table } from '../../lib/state/table/table.ts';
import { counted, messageOf } from '../../lib/text.ts';
import { customOf } from '../../lib/triggers/custom-automation.ts';
import { bodyOf, exampleCommands, exampleEvents } from '../../local/examples/examples.ts';
import { type SignedRequest, signedByGithub, signedBySlack } from '../../local/examples/signed-request.ts';
import { buttonForm, commandForm } from '../../local/slack/requests.ts';
import type { SlackStandIn } from '../../local/slack/stand-in.ts';
import type { ActionOutcome, TryAction } from '../requests.ts';

/** An event to send. */
interface TryExample {
  id: string;
  title: string;
  /** The name of GitHub's event; undefined for a command in Slack. */
  event?: string;
  /** The payload as JSON, or the command. */
  body: string;
}

/** How the screen Try reaches the relay: as GitHub and Slack do. */
export interface SenderOptions {
  clock: () => number;
  /** The addresses for requests, which are known only once the relay listens. */
  addresses: () => { github: string; commands: string; interactions: string };
  webhookSecret: string;
  table: Table;
  /** The current runtime, with the team's automations. */
  runtime: Pick<Runtime, 'config' | 'custom'>;
  /** Undefined without Slack in relay.config.ts. The stand-in is undefined if the relay uses Slack. */
  slack?: { signingSecret: string; standIn?: SlackStandIn | undefined } | undefined;
}

/** The person and the channel of a command, which the stand-in knows. */
const USER = 'U0MIRA001';
const CHANNEL = 'C0GENERAL';

/** Events that can follow for an issue. */
const FOLLOW_UPS = [
  { action: 'closed', does: 'Close' },
  { action: 'edited', does: 'Edit' },
  { action: 'labeled', does: 'Label' },
] as const;

/** Sends events. Each method returns what happened, or throws an Error that says what is wrong with its input. */
export function createSender({ clock, addresses, webhookSecret, table, runtime, slack }: SenderOptions) {
  let lastIssue: number | undefined;

  function examples(): TryExample[] {
    const events = exampleEvents.map(({ event, ...one }) => ({ ...one, ...bodyOf(event, runtime.config) }));
    const followUps = FOLLOW_UPS.map(({ action, does }) => {
      const title = `${does} ${lastIssue === undefined ? 'an issue that the relay does not know' : 'the issue that Try sent last'}`;
      return { id: `issue ${action}`, title, ...bodyOf({ event: 'issues', action, issue: lastIssue }, runtime.config) };
    });
    if (!slack?.standIn) return [...events, ...followUps];
    const own = customOf(runtime.custom, 'command').map(({ name, does, example }) => {
      return { id: `own ${name}`, title: `Your own: ${does}`, body: `${runtime.config.slack?.command} ${example}` };
    });
    return [...events, ...followUps, ...exampleCommands, ...own];
  }

  async function post(url: string, request: SignedRequest): Promise<string> {
    const response = await fetch(url, { method: 'POST', ...request });
    const answer = await response.text();
    if (!response.ok) throw new Error(`the relay refused it with ${response.status}: ${answer.trim()}`);
    return answer;
  }

  /** The jobs of a request from Slack, by its `trigger_id`. */
  async function jobsOf(cause: string): Promise<string[]> {
    if (cause === '') return [];
    const [newest] = await findNewJobs(table, cause, clock());
    return newest ? [newest.id] : [];
  }

  function toSlack(url: string, signingSecret: string, form: URLSearchParams): Promise<string> {
    return post(url, signedBySlack(form, signingSecret, clock()));
  }

  return {
    examples,
    async sendEvent(event: string, body: string): Promise<ActionOutcome> {
      const { issue } = parsed(body);
      const answer = await post(addresses().github, signedByGithub(event, body, webhookSecret));
      if (event === 'issues' && typeof issue?.number === 'number') lastIssue = issue.number;
      return acceptedInWords(JSON.parse(answer));
    },
    async sendCommand(text: string, user = USER): Promise<ActionOutcome> {
      const { signingSecret, standIn } = standInOf(slack);
      const place = { userId: user, channelId: CHANNEL };
      const form = commandForm(standIn, text, place);
      const answer = await toSlack(addresses().commands, signingSecret, form);
      const said = await show(answer, standIn.makeResponseUrl(place));
      return { ...said, jobs: await jobsOf(form.get('trigger_id') ?? '') };
    },
    async press({ channel, ts, ...action }: Omit<Extract<TryAction, { do: 'press' }>, 'do'>): Promise<ActionOutcome> {
      const { signingSecret, standIn } = standInOf(slack);
      const message = standIn.messages.find((one) => one.channel === channel && one.ts === ts);
      if (!message) throw new Error('the message is gone: reload the page');
      const form = buttonForm(standIn, message, action, message.userId ?? USER);
      const place = { userId: message.userId ?? USER, channelId: channel };
      const answer = await toSlack(addresses().interactions, signingSecret, form);
      const said = await show(answer, standIn.makeResponseUrl(place));
      return { ...said, jobs: await jobsOf(causeOf(action.value)) };
    },
  };
}

/** The event that a pressed button belongs to: its value names the event of the command. */
function causeOf(value = '{}'): string {
  const held = value.startsWith('{') ? parsed(value) : {};
  return 'happened' in held ? String(held.happened) : '';
}

function standInOf(slack: SenderOptions['slack']) {
  if (!slack) throw new Error('relay.config.ts has no slack');
  const { signingSecret, standIn } = slack;
  if (!standIn) throw new Error('this relay uses the real Slack: give commands there');
  return { signingSecret, standIn };
}

function parsed(body: string): { issue?: { number?: unknown } } {
  const payload = readJson(body);
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload;
  throw new Error('the payload of an event is a JSON object');
}

function readJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new Error(`the payload is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** The answer of github-webhook. */
interface AcceptedSend {
  jobs?: string[];
  repeat?: boolean;
  ignored?: string;
}

function acceptedInWords({ jobs = [], repeat, ignored }: AcceptedSend): ActionOutcome {
  if (ignored !== undefined) return { text: `The relay ignores it: ${ignored}` };
  return { text: `${repeat ? 'Sent again' : 'Sent'}: ${counted(jobs.length, 'job')}.`, jobs };
}

/** Shows the answer to a command, as Slack does, in a message to the person. */
async function show(answer: string, responseUrl: string): Promise<ActionOutcome> {
  if (answer === '')
    return { text: 'The relay is working on it. If it opened a form, npx partner-relay messages shows it.' };
  await fetch(responseUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body: answer });
  return { text: 'The relay answered: see the messages in Slack.' };
}
