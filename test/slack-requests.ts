import { expect } from 'vitest';
import { blockKitFaults, optionFaults } from '../local/slack/block-kit.ts';
import type { SlackStandIn } from '../local/slack/stand-in.ts';
import { type SlackMessage, type StandInView, TEAM_ID } from '../local/slack/workspace.ts';
import { SIGNING_SECRET, slackSignature } from './requests.ts';
import { GENERAL, MIRA, TOMASZ } from './slack-people.ts';

export { slackSignature } from './requests.ts';
export { GENERAL, MIRA, NOBODY, PLATFORM, TOMASZ } from './slack-people.ts';

/** What people in Slack use: Slack, and the relay's endpoint for it. A {@link TestRelay} has both. */
export interface SlackSide {
  slack: SlackStandIn;
  slackUrl: string;
  clock: { readonly now: number };
  /** Reaches `slackUrl`, if Node's `fetch` cannot. */
  fetch?: typeof fetch;
}

export interface SlackAnswer {
  status: number;
  /** Empty, or JSON. */
  body: string;
  /** The text that a person reads. */
  text: string;
  blocks: readonly Block[];
}

interface Block {
  type: string;
  text?: { type: string; text: string };
  accessory?: Button;
  elements?: readonly Button[];
}

interface Button {
  action_id: string;
  value: string;
  text: { text: string };
}

export interface Asked {
  userId?: string;
  channelId?: string;
  triggerId?: string;
  responseUrl?: string;
  /** The workspace that Slack names as the request's origin. */
  teamId?: string;
}

/** Posts bytes as Slack does. If Slack would refuse the answer's blocks, that is an error. */
export async function postToSlack(
  relay: SlackSide,
  body: string | Uint8Array,
  { timestamp = Math.floor(relay.clock.now / 1000), secret = SIGNING_SECRET, signature = '' } = {},
): Promise<SlackAnswer> {
  const response = await (relay.fetch ?? fetch)(relay.slackUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': signature || slackSignature(body, timestamp, secret),
    },
    body: body as string,
  });
  const text = await response.text();
  const { blocks = [] } = text.startsWith('{') ? (JSON.parse(text) as { blocks?: Block[] }) : {};
  const faults = blockKitFaults(blocks);
  if (faults.length > 0) throw new Error(`Slack would refuse the answer: ${faults.join('; ')}`);
  return { status: response.status, body: text, text: readable(blocks), blocks };
}

/** Sends `/pm …` as a person. */
export function command(relay: SlackSide, text: string, asked: Asked = {}): Promise<SlackAnswer> {
  return postToSlack(relay, commandForm(relay, text, asked).toString());
}

export function commandForm(relay: SlackSide, text: string, asked: Asked = {}): URLSearchParams {
  const { userId = MIRA, channelId = GENERAL, teamId = TEAM_ID } = asked;
  return new URLSearchParams({
    token: 'deprecated',
    team_id: teamId,
    team_domain: 'example',
    channel_id: channelId,
    channel_name: 'general',
    user_id: userId,
    user_name: 'mira',
    command: '/pm',
    text,
    api_app_id: 'A0RELAY01',
    is_enterprise_install: 'false',
    response_url: asked.responseUrl ?? relay.slack.makeResponseUrl({ userId, channelId }),
    trigger_id: asked.triggerId ?? relay.slack.makeTriggerId(userId),
  });
}

/** Sends `/pm …` as a person, and runs its jobs. @returns the texts that the person reads */
export async function ask(
  relay: SlackSide & { work(): Promise<unknown> },
  text: string,
  asked: Asked = {},
): Promise<{ atOnce: string; inTheEnd: string }> {
  const before = relay.slack.messages.length;
  const answer = await command(relay, text, asked);
  await relay.work();
  return { atOnce: answer.text, inTheEnd: told(relay).slice(before).join('\n') };
}

/** Presses a button of a message. @param asked.at which of the buttons with that label */
export function press(
  relay: SlackSide,
  on: { blocks: readonly unknown[] } | SlackMessage,
  label: string,
  asked: Asked & { at?: number } = {},
) {
  const { userId = MIRA, channelId = GENERAL, teamId = TEAM_ID, at = 0 } = asked;
  const blocks = (on.blocks ?? []) as readonly Block[];
  const buttons = blocks.flatMap(({ elements = [], accessory }) => (accessory ? [accessory] : elements));
  const button = buttons.filter(({ text }) => text.text === label).at(at);
  if (!button) throw new Error(`there is no button '${label}' in ${JSON.stringify(blocks)}`);
  const source =
    'ts' in on
      ? on
      : ({ kind: 'ephemeral', channel: channelId, userId, ts: '1.1', text: '', at: relay.clock.now } as SlackMessage);
  if (!relay.slack.messages.includes(source)) relay.slack.messages.push(source);
  return interact(relay, {
    type: 'block_actions',
    team: { id: teamId, domain: 'example' },
    user: { id: userId, name: 'mira' },
    channel: { id: channelId, name: 'general' },
    trigger_id: asked.triggerId ?? relay.slack.makeTriggerId(userId),
    response_url: asked.responseUrl ?? relay.slack.makeResponseUrl({ userId, channelId, source }),
    actions: [{ type: 'button', ...button, action_ts: '1.2' }],
    // Slack leaves out messages that only one person sees.
    ...(source.kind === 'message' && { message: { type: 'message', ts: source.ts, blocks } }),
  });
}

/** Presses "Log the rest" of a reminder. @param value of the button; by default an hour of today */
export function pressLogRest(relay: SlackSide, asked: Asked = {}, value?: string): Promise<SlackAnswer> {
  const { now: at } = relay.clock;
  const rest = { connection: 'main', date: new Date(at).toISOString().slice(0, 10), minutes: 60, at, tasks: [] };
  const text = { type: 'plain_text', text: 'Log the rest' };
  const button = { action_id: 'log-rest', value: value ?? JSON.stringify(rest), text };
  return press(relay, { blocks: [{ type: 'actions', elements: [button] }] }, text.text, asked);
}

/** Fills in a modal and submits it. Other fields keep their initial values. @returns the shown errors */
export async function submit(
  relay: SlackSide,
  shown: StandInView,
  filled: Record<string, string>,
  { teamId = TEAM_ID }: Pick<Asked, 'teamId'> = {},
): Promise<Record<string, string>> {
  const values = Object.fromEntries(
    shown.view.blocks.flatMap((block) =>
      'element' in block && block.block_id
        ? [[block.block_id, { [block.block_id]: state(block.element, filled[block.block_id]) }]]
        : [],
    ),
  );
  const { callback_id, private_metadata } = shown.view;
  const { status, body } = await interact(relay, {
    type: 'view_submission',
    team: { id: teamId, domain: 'example' },
    user: { id: shown.userId, name: 'mira' },
    view: { id: shown.id, callback_id, private_metadata, state: { values } },
  });
  if (status !== 200) throw new Error(`the modal is answered with ${status}: ${body}`);
  if (body === '') return {};
  const { response_action, errors } = JSON.parse(body) as { response_action: string; errors: Record<string, string> };
  // https://docs.slack.dev/surfaces/modals#displaying_errors: the keys are blocks with an input.
  const unknown = Object.keys(errors).filter((block) => !(block in values));
  if (response_action !== 'errors' || unknown.length > 0) throw new Error(`Slack cannot show ${body}`);
  return errors;
}

function state(element: object, filled: string | undefined): object {
  const { type, initial_value, initial_option, initial_date } = element as {
    type: string;
    initial_value?: string;
    initial_option?: object;
    initial_date?: string;
  };
  if (type === 'static_select' || type === 'external_select')
    return { type, selected_option: filled ? { value: filled } : (initial_option ?? null) };
  if (type === 'datepicker') return { type, selected_date: filled ?? initial_date ?? null };
  return { type, value: filled ?? initial_value ?? null };
}

/** Types into a list of a modal that the relay fills. @returns the labels of its options, by value */
export async function suggested(
  relay: SlackSide,
  { id, view, userId }: StandInView,
  typed: string,
  asked: Asked = {},
): Promise<Record<string, string>> {
  const { callback_id, private_metadata } = view;
  const { body } = await interact(relay, {
    type: 'block_suggestion',
    team: { id: asked.teamId ?? TEAM_ID, domain: 'example' },
    user: { id: asked.userId ?? userId, name: 'mira' },
    action_id: 'find-task',
    block_id: 'find-task',
    value: typed,
    view: { id, callback_id, private_metadata },
  });
  const answer: unknown = JSON.parse(body);
  expect(optionFaults(answer)).toEqual([]);
  const { options } = answer as { options: { text: { text: string }; value: string }[] };
  return Object.fromEntries(options.map(({ text, value }) => [value, text.text]));
}

/** Uses the shortcut of a message, which is given by its text or its fields. */
export function shortcut(relay: SlackSide, message: string | object, asked: Asked = {}): Promise<SlackAnswer> {
  const { userId = MIRA, channelId = GENERAL, teamId = TEAM_ID } = asked;
  const fields = typeof message === 'string' ? { text: message } : message;
  return interact(relay, {
    type: 'message_action',
    callback_id: 'create-defect',
    trigger_id: asked.triggerId ?? relay.slack.makeTriggerId(userId),
    response_url: relay.slack.makeResponseUrl({ userId, channelId }),
    user: { id: userId, name: 'mira' },
    channel: { id: channelId, name: 'general' },
    team: { id: teamId, domain: 'example' },
    message: { type: 'message', user: TOMASZ, ts: '1763632800.000100', ...fields },
  });
}

export function interact(relay: SlackSide, payload: object): Promise<SlackAnswer> {
  return postToSlack(relay, new URLSearchParams({ payload: JSON.stringify(payload) }).toString());
}

/** The texts of a message as people read them, without Block Kit and without mrkdwn's marks. */
export function readable(blocks: readonly object[] | undefined): string {
  return ((blocks ?? []) as readonly Block[])
    .map(({ text }) => (text?.type === 'mrkdwn' ? unmarked(text.text) : (text?.text ?? '')))
    .join('\n')
    .trim();
}

/** Times stay in Slack's format, because readers see them in their own time zones. */
function unmarked(mrkdwn: string): string {
  return mrkdwn
    .replaceAll(/`([^`\n]*)`/g, '$1')
    .replaceAll(/(?<=^| )([*_])([^*_\n]+)\1(?= |$)/gm, '$2')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** The labels of the buttons below a message. */
export function buttonsOf({ blocks }: { blocks?: readonly object[] }): string[] {
  return ((blocks ?? []) as readonly Block[]).flatMap(({ elements = [] }) => elements.map(({ text }) => text.text));
}

/** The texts that Slack reads as mrkdwn. */
export function mrkdwnOf(blocks: readonly object[] | undefined): string[] {
  return ((blocks ?? []) as readonly Block[]).flatMap(({ text }) => (text?.type === 'mrkdwn' ? text.text : []));
}

/** All texts that people read, oldest first. */
export function told(relay: Pick<SlackSide, 'slack'>): string[] {
  return relay.slack.messages.map(({ blocks, text }) => readable(blocks) || text);
}

/** The last message sent to a person. */
export function lastMessage(relay: Pick<SlackSide, 'slack'>): SlackMessage {
  const message = relay.slack.messages.at(-1);
  if (!message) throw new Error('nothing went out');
  return message;
}

export function lastView(relay: Pick<SlackSide, 'slack'>): StandInView {
  const view = relay.slack.views.at(-1);
  if (!view) throw new Error('no modal was opened');
  return view;
}
