import type { SlackStandIn } from './stand-in.ts';
import type { SlackMessage, StandInView } from './workspace.ts';

/** What Slack sends to the app. It has what the relay reads, and leaves out what Slack calls deprecated. */

/** A person and the place where they are. */
export interface Whereabouts {
  userId: string;
  channelId: string;
}

/**
 * `/pm …` as a person types it: https://docs.slack.dev/interactivity/implementing-slash-commands
 * @throws {Error} for text that is not a command
 */
export function commandForm(standIn: SlackStandIn, typed: string, { userId, channelId }: Whereabouts): URLSearchParams {
  const [, command, text = ''] = /^(\/\S+)\s*(.*)$/s.exec(typed.trim()) ?? [];
  if (command === undefined) throw new Error('a command begins with a slash, such as /pm help');
  return new URLSearchParams({
    team_id: standIn.installation.teamId,
    command,
    text,
    user_id: userId,
    channel_id: channelId,
    user_name: nameOf(standIn, userId),
    trigger_id: standIn.makeTriggerId(userId),
    response_url: standIn.makeResponseUrl({ userId, channelId }),
  });
}

/**
 * A button of a message is pressed: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
 * @throws {Error} if the message has no such button
 */
export function buttonForm(
  standIn: SlackStandIn,
  source: SlackMessage,
  action: { actionId: string; value?: string },
  userId: string,
): URLSearchParams {
  const pressed = buttonsOf(source).find(
    ({ action_id, value }) => action_id === action.actionId && (action.value === undefined || value === action.value),
  );
  if (!pressed) throw new Error('the message has no such button any more');
  return payloadForm({
    type: 'block_actions',
    ...who(standIn, userId),
    channel: { id: source.channel, name: standIn.channels.get(source.channel)?.name ?? 'directmessage' },
    trigger_id: standIn.makeTriggerId(userId),
    response_url: standIn.makeResponseUrl({ userId, channelId: source.channel, source }),
    actions: [{ type: 'button', ...pressed, action_ts: source.ts }],
  });
}

interface Button {
  action_id: string;
  value?: string;
}

function buttonsOf({ blocks = [] }: SlackMessage): Button[] {
  const elements = blocks.flatMap((block): { type: string; action_id?: string; value?: string }[] => {
    if (block.type === 'actions') return block.elements;
    return block.type === 'section' && block.accessory ? [block.accessory] : [];
  });
  return elements.flatMap((element) =>
    element.type === 'button' && element.action_id !== undefined
      ? [{ action_id: element.action_id, ...(element.value !== undefined && { value: element.value }) }]
      : [],
  );
}

/**
 * A form is sent: https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
 * @param values by block id; the other fields keep what they show
 */
export function submissionForm(
  standIn: SlackStandIn,
  { id, userId, view }: StandInView,
  values: Readonly<Record<string, unknown>>,
): URLSearchParams {
  const state = Object.fromEntries(
    view.blocks.flatMap((block) =>
      'element' in block && block.block_id !== undefined
        ? [[block.block_id, { [block.block_id]: stateOf(block.element, values[block.block_id]) }]]
        : [],
    ),
  );
  const { callback_id = '', private_metadata = '' } = view;
  return payloadForm({
    type: 'view_submission',
    ...who(standIn, userId),
    view: { id, callback_id, private_metadata, state: { values: state } },
  });
}

/** A person types into a list: https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload */
export function suggestionForm(
  standIn: SlackStandIn,
  { id, userId, view: { callback_id = '', private_metadata = '' } }: StandInView,
  blockId: string,
  typed: string,
): URLSearchParams {
  return payloadForm({
    type: 'block_suggestion',
    ...who(standIn, userId),
    container: { type: 'view', view_id: id },
    block_id: blockId,
    action_id: blockId,
    value: typed,
    view: { id, callback_id, private_metadata },
  });
}

/** The value of a field, as typed or else as shown; several choices with one on each line. Empty text is no value. */
function stateOf(element: object, given: unknown): object {
  const { type, initial_value, initial_option, initial_date } = element as {
    type: string;
    initial_value?: string;
    initial_option?: object;
    initial_date?: string;
  };
  const typed = given === undefined ? undefined : String(given) || null;
  if (type === 'static_select' || type === 'external_select') {
    return { type, selected_option: typed === undefined ? (initial_option ?? null) : typed && { value: typed } };
  }
  if (type === 'multi_static_select') {
    return { type, selected_options: typed?.split('\n').map((value) => ({ value })) ?? [] };
  }
  if (type === 'datepicker') return { type, selected_date: typed === undefined ? (initial_date ?? null) : typed };
  return { type, value: typed === undefined ? (initial_value ?? null) : typed };
}

const payloadForm = (payload: object) => new URLSearchParams({ payload: JSON.stringify(payload) });

function who(standIn: SlackStandIn, userId: string): object {
  return { team: { id: standIn.installation.teamId }, user: { id: userId, name: nameOf(standIn, userId) } };
}

const nameOf = ({ users }: SlackStandIn, userId: string) => users.get(userId)?.name ?? userId;
