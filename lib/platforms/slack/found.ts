import type { KnownBlock } from '@slack/types';
import type * as z from 'zod/mini';
import type { Page } from '../../config/pages.ts';
import { cutToLength } from '../../text.ts';
import type { placeAsked } from './command-button.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, plainSection, section } from './messages.ts';
import { code, linkTo } from './mrkdwn.ts';
import { LOG_ON_PROJECT_BUTTON, LOG_TIME_BUTTON } from './views/views.ts';

/** Ten results stay within Slack's limit for text in a message. */
const MAX_NAME_LENGTH = 200;

export interface FoundTask {
  id: string | number;
  name: string;
}

/**
 * The results of a search, each with a button to log time.
 * @param projects null if the service refused to search them
 * @param place where the person asked; undefined if time may not be logged there
 */
export function foundBlocks(
  text: string,
  place: z.output<typeof placeAsked> | undefined,
  tasks: readonly FoundTask[],
  projects: readonly FoundTask[] | null,
  pages: readonly Page[] = [],
): KnownBlock[] {
  if (tasks.length === 0 && projects?.length === 0) {
    return [section(`No task or project matches ${code(text)}.`)];
  }
  return [
    ...(tasks.length > 0 ? [section('*Tasks*')] : []),
    ...tasks.map((task) => foundBlock(task, LOG_TIME_BUTTON, place && { ...place, task: short(task) })),
    ...(pages.length > 0 ? [section(pages.map(linkTo).join(', '))] : []),
    ...(projects ? [] : [section('The service refuses to search projects.')]),
    ...(projects?.length ? [section('*Projects*')] : []),
    ...(projects ?? []).map((project) =>
      foundBlock(project, LOG_ON_PROJECT_BUTTON, place && { ...place, project: short(project) }),
    ),
  ];
}

/** @param value the value for that button, as in views.ts; undefined for none */
function foundBlock({ id, name }: FoundTask, actionId: string, value: object | undefined): KnownBlock {
  const json = JSON.stringify(value);
  return {
    ...plainSection(`${cutToLength(name, MAX_NAME_LENGTH, '…')}\n${id}`),
    // Slack would refuse the whole message if one button's value is too long.
    ...(value && json.length <= MAX_BUTTON_VALUE_LENGTH && { accessory: button('Log time', actionId, json) }),
  };
}

function short({ id, name }: FoundTask): { id: string; name: string } {
  return { id: String(id), name: cutToLength(name, MAX_NAME_LENGTH, '…') };
}
