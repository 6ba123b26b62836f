import type { KnownBlock } from '@slack/types';
import { button, MAX_BUTTON_VALUE_LENGTH, section } from './messages.ts';
import { code, escaped } from './mrkdwn.ts';
import { LOG_TIME_BUTTON } from './views.ts';

interface Found {
  id: string | number;
  name: string;
}

/** What a search found, with a button on each task to log time on it. */
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
    ...(tasks.length > 0 ? [section('*Tasks*'), ...tasks.map((task) => taskBlock(task, connection))] : []),
    ...(projects.length > 0
      ? [section(`*Projects*\n${projects.map(({ id, name }) => `${escaped(name)} ${code(String(id))}`).join('\n')}`)]
      : []),
  ];
}

function taskBlock({ id, name }: Found, connection: string): KnownBlock {
  const value = JSON.stringify({ connection, task: { id: String(id), name: name.slice(0, 200) } });
  return {
    type: 'section',
    text: { type: 'mrkdwn', text: `${escaped(name.slice(0, 500))}\n${code(String(id))}` },
    // A button whose value does not fit would refuse the whole message.
    ...(value.length <= MAX_BUTTON_VALUE_LENGTH && { accessory: button('Log time', LOG_TIME_BUTTON, value) }),
  };
}
