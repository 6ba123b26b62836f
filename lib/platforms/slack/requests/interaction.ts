import type { KnownBlock } from '@slack/types';
import * as z from 'zod/mini';
import { parsedJson } from '../../../text.ts';
import type { SlackSender } from './admission.ts';
import { given, name, parsed, SlackRequestError, typed } from './fields.ts';

const withId = z.object({ id: given });
const user = z.extend(withId, { name: z.optional(name) });
const origin = { team: z.nullish(withId), enterprise: z.nullish(withId) };

/** A post of another app, or a forwarded message. A link preview has `from_url` and no `is_share`. */
const attachment = z.object({
  is_share: z.nullish(z.boolean()),
  from_url: z.nullish(z.string()),
  pretext: z.nullish(z.string()),
  title: z.nullish(z.string()),
  text: z.nullish(z.string()),
  fallback: z.nullish(z.string()),
});
const file = z.object({ title: z.nullish(z.string()), name: z.nullish(z.string()) });
const message = z.object({
  ts: z.string(),
  text: z.nullish(z.string()),
  attachments: z.nullish(z.array(attachment)),
  files: z.nullish(z.array(file)),
});

const messageAction = z.object({
  callback_id: z.string(),
  trigger_id: given,
  user,
  channel: withId,
  team: z.object({ id: z.optional(z.string()), domain: z.string() }),
  enterprise: origin.enterprise,
  message,
  response_url: z.url(),
});

const pressed = z.object({
  action_id: z.string(),
  value: z._default(z.string(), ''),
  text: z.nullish(z.object({ text: z.string() })),
});

const blockActions = z.object({
  ...origin,
  trigger_id: given,
  user,
  channel: z.nullish(withId),
  response_url: z.optional(z.url()),
  actions: z.array(pressed).check(z.minLength(1)),
  /** Missing for a message that only one person sees. */
  message: z.nullish(z.object({ blocks: z.nullish(z.array(z.looseObject({ type: z.string() }))) })),
});

/** The kinds of inputs in the relay's modals. */
const inputState = z.object({
  value: z.nullish(typed),
  selected_date: z.nullish(z.string()),
  selected_option: z.nullish(z.object({ value: z.string() })),
});

const viewSubmission = z.object({
  ...origin,
  user,
  view: z.object({
    id: given,
    callback_id: z.string(),
    private_metadata: z._default(z.string(), ''),
    /** In a shared channel, the person's team. */
    app_installed_team_id: z.nullish(z.string()),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), inputState)) }),
  }),
});

const blockSuggestion = z.object({
  ...origin,
  user,
  value: z._default(typed, ''),
  view: z.object({
    callback_id: z.string(),
    private_metadata: z._default(z.string(), ''),
    app_installed_team_id: z.nullish(z.string()),
  }),
});

/**
 * A message shortcut chosen by a person.
 * https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload
 */
export type MessageShortcut = ReturnType<typeof readShortcut>;

function readShortcut(json: unknown) {
  const read = parsed('message_action', messageAction, json);
  const { callback_id, trigger_id, user, channel, team, enterprise, message, response_url } = read;
  return {
    kind: 'message shortcut' as const,
    ...senderOf(user, team.id, enterprise),
    callbackId: callback_id,
    triggerId: trigger_id,
    channelId: channel.id,
    /** mrkdwn: the message's text, the texts of forwarded and attached messages, and file names. */
    messageText: textOf(message),
    permalink: `https://${team.domain}.slack.com/archives/${channel.id}/p${message.ts.replace('.', '')}`,
    responseUrl: response_url,
  };
}

/**
 * A pressed button of the relay's messages. https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
 */
export type ButtonPress = ReturnType<typeof readPress>;

function readPress(json: unknown) {
  const { team, enterprise, trigger_id, user, channel, message, ...read } = parsed('block_actions', blockActions, json);
  const [action] = read.actions;
  return {
    kind: 'button' as const,
    ...senderOf(user, team?.id, enterprise),
    actionId: action?.action_id ?? '',
    value: action?.value ?? '',
    text: action?.text?.text ?? '',
    /** The message's blocks, as sent by Slack. */
    blocks: (message?.blocks ?? []) as KnownBlock[],
    triggerId: trigger_id,
    userName: user.name ?? user.id,
    /** Empty if the button is not in a message. */
    channelId: channel?.id ?? '',
    responseUrl: read.response_url,
  };
}

/** A submitted modal. https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload */
export type ModalSubmission = ReturnType<typeof readSubmission>;

function readSubmission(json: unknown) {
  const { team, enterprise, user, view } = parsed('view_submission', viewSubmission, json);
  return {
    kind: 'submission' as const,
    ...senderOf(user, view.app_installed_team_id ?? team?.id, enterprise),
    callbackId: view.callback_id,
    viewId: view.id,
    userName: user.name ?? user.id,
    privateMetadata: view.private_metadata,
    /** The entered values by block id, without empty fields. */
    values: entered(view.state.values),
  };
}

/**
 * A person's input in a list whose options come from the relay.
 * https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload
 */
export type TypedInList = ReturnType<typeof readTyped>;

function readTyped(json: unknown) {
  const { team, enterprise, user, view, value } = parsed('block_suggestion', blockSuggestion, json);
  return {
    kind: 'typed in list' as const,
    ...senderOf(user, view.app_installed_team_id ?? team?.id, enterprise),
    typed: value,
    callbackId: view.callback_id,
    privateMetadata: view.private_metadata,
  };
}

function senderOf(
  user: { id: string },
  teamId: string | undefined,
  enterprise: { id: string } | null | undefined,
): SlackSender {
  return { userId: user.id, teamId, enterpriseId: enterprise?.id };
}

/**
 * Reads what a person did in a message or form. `other` is anything that the relay does not use, such as a closed
 * modal.
 * @throws {SlackRequestError}
 */
export function readInteraction(payload: string) {
  const json = parsedJson(payload);
  if (json === undefined) throw new SlackRequestError('the field "payload" is not JSON');
  const { type } = parsed('interaction', z.object({ type: z.string() }), json);
  switch (type) {
    case 'message_action':
      return readShortcut(json);
    case 'block_actions':
      return readPress(json);
    case 'view_submission':
      return readSubmission(json);
    case 'block_suggestion':
      return readTyped(json);
    default:
      return { kind: 'other' as const, type };
  }
}

function textOf({ text, attachments, files }: z.output<typeof message>): string {
  const attached = (attachments ?? [])
    .filter(({ is_share, from_url }) => is_share || !from_url)
    .map(({ pretext, title, text, fallback }) => [pretext, title, text].filter(Boolean).join('\n') || fallback);
  const named = (files ?? []).map(({ title, name }) => `[File: ${title || name || 'without a name'}]`);
  return [text, ...attached, ...named].filter(Boolean).join('\n');
}

function entered(
  blocks: Readonly<Record<string, Readonly<Record<string, z.output<typeof inputState>>>>>,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [block, inputs] of Object.entries(blocks)) {
    for (const { value, selected_date, selected_option } of Object.values(inputs)) {
      const given = value ?? selected_date ?? selected_option?.value;
      if (given) values[block] = given;
    }
  }
  return values;
}
