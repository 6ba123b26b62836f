import type { KnownBlock } from '@slack/types';
import type * as z from 'zod/mini';
import type { Page } from '../../config/pages.ts';
import { cutToLength } from '../../text.ts';
import type { placeAsked } from './command-button.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, plainSection, section } from './messages.ts';
import { code, linkTo } from './mrkdwn.ts';
import { LOG_TIME_BUTTON } from './views/views.ts';

/** Ten results stay within Slack's limit for text in a message. */
const MAX_NAME_LENGTH = 200;

export interface FoundTask {
  id: string | number;
  name: string;
}

/**
 * Creates the message with a search's results. Each task has a button to log time.
 * @param projects null if the service refused to search them
 * @param near possible matches if nothing is found
 * @param place where the person asked; undefined if time may not be logged there
 */
export function foundBlocks(
  text: string,
  place: z.output<typeof placeAsked> | undefined,
  tasks: readonly FoundTask[],
  projects: readonly FoundTask[] | null,
  pages: readonly Page[] = [],
  near: readonly FoundTask[] = [],
): KnownBlock[] {
  const taskBlocks = (some: readonly FoundTask[]) =>
    some.map((task) => ({ ...foundBlock(task), ...(place && logButton(task, place)) }));
  if (tasks.length === 0 && projects?.length === 0) {
    const more = near.length > 0 ? 'Did you mean:' : 'Try another word, or only a part of it.';
    return [section(`No task or project matches ${code(text)}. ${more}`), ...taskBlocks(near)];
  }
  return [
    ...(tasks.length > 0 ? [section('*Tasks*')] : []),
    ...taskBlocks(tasks),
    ...(pages.length > 0 ? [section(pages.map(linkTo).join(', '))] : []),
    ...(projects ? [] : [section('The service refuses to search projects.')]),
    ...(projects?.length ? [section('*Projects*')] : []),
    ...(projects ?? []).map(foundBlock),
  ];
}

const shown = (name: string) => cutToLength(name, MAX_NAME_LENGTH, '…');
const foundBlock = ({ id, name }: FoundTask) => plainSection(`${shown(name)}\n${id}`);

/** Slack refuses the whole message if one button's value is too long. */
function logButton({ id, name }: FoundTask, place: z.output<typeof placeAsked>) {
  const value = JSON.stringify({ ...place, task: { id: String(id), name: shown(name) } });
  return value.length <= MAX_BUTTON_VALUE_LENGTH ? { accessory: button('Log time', LOG_TIME_BUTTON, value) } : {};
}
