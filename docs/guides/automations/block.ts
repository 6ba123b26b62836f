import { command, type Run } from 'partner-relay';

export const on = command('block <task> <reason…>', {
  does: 'says in the channel of the platform that a task is blocked',
  example: 'block 4711 waits for the certificate',
});

export const run: Run<typeof on> = async ({ task, reason }, steps) => {
  const { name } = await steps.task('find the task', task);
  await steps.say('tell', { channel: 'C0PLATFORM' }, `${steps.asker.name}: ${name} is blocked: ${reason}`);
  return `told the platform that ${name} is blocked`;
};
