import { type Run, schedule } from 'partner-relay';

const PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';

export const on = schedule('0 9 * * MON', 'Europe/Berlin');

export const run: Run<typeof on> = async ({ date }, { list, say }) => {
  const tasks = await list('tasks', 'tasks/list', { project_id: PROJECT }, ({ task_id, name }) =>
    task_id == null ? undefined : `• ${name} (${task_id})`,
  );
  await say('post', { channel: 'C0PLATFORM' }, [`Tasks on ${date}:`, ...tasks].join('\n'));
  return `posted ${tasks.length} tasks`;
};
