import type { KnownBlock } from '@slack/types';
import { cutToLength } from '../text.ts';
import { button, MAX_BUTTON_VALUE_LENGTH, plainSection, section } from './messages.ts';
import { code } from './mrkdwn.ts';
import { LOG_ON_PROJECT_BUTTON, LOG_TIME_BUTTON } from './views.ts';

/** Ten of them stay below what Slack takes of text in a message. */
const MAX_NAME_LENGTH = 200;

interface Found {
  id: string | number;
  name: string;
}

/** What a search found, with a button on each to log time on it. */
export function foundBlocks(
  text: string,
  connection: string,
  tasks: readonly Found[],
  projects: readonly Found[],
): KnownBlock[] {
  if (tasks.length === 0 && projects.length === 0) {
    return [section(`No task and no project has ${code(text)} in it.`)];
  }
  return [
    ...(tasks.length > 0 ? [section('*Tasks*')] : []),
    ...tasks.map((task) => foundBlock(task, LOG_TIME_BUTTON, { connection, task: short(task) })),
    ...(projects.length > 0 ? [section('*Projects*')] : []),
    ...projects.map((project) => foundBlock(project, LOG_ON_PROJECT_BUTTON, { connection, project: short(project) })),
  ];
}

/** @param value as views.ts has it for that button */
function foundBlock({ id, name }: Found, actionId: string, value: object): KnownBlock {
  const json = JSON.stringify(value);
  return {
    ...plainSection(`${cutToLength(name, MAX_NAME_LENGTH, '…')}\n${id}`),
    // A button whose value does not fit would refuse the whole message.
    ...(json.length <= MAX_BUTTON_VALUE_LENGTH && { accessory: button('Log time', actionId, json) }),
  };
}

function short({ id, name }: Found): { id: string; name: string } {
  return { id: String(id), name: cutToLength(name, MAX_NAME_LENGTH, '…') };
}
