import { type Run, schedule } from 'partner-relay';

const PROJECT = '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01';

export const on = schedule('30 17 * * MON-FRI', 'Europe/Berlin');

export const run: Run<typeof on> = async ({ date }, { list, say }) => {
  const states = await list('tasks', 'tasks/list', { project_id: PROJECT }, ({ status }) => String(status));
  const hours = await list('time', 'timelogs/list', { project_id: PROJECT }, ({ date: day, hours }) =>
    day === date ? Number(hours) : undefined,
  );
  const open = states.filter((state) => state !== 'done').length;
  const worked = hours.reduce((sum, one) => sum + one, 0);
  await say(
    'burn-down',
    { channel: 'C0PLATFORM' },
    `${date}: ${open} of ${states.length} tasks are open, ${worked} h today`,
  );
  return `posted the burn-down of ${date}`;
};
