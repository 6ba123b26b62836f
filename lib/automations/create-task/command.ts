import * as z from 'zod/mini';
import { asTyped, unquoted } from '../../commands/words.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { doubtOfTitle } from '../create-defect/command.ts';
import { eventOf, type JobVerb } from '../verb.ts';

export const taskJobs = defineJobs(
  'create-task',
  z.object({ projectId: z.optional(z.string()), title: z.string(), origin: z.string() }),
);

export interface TaskCommand {
  verb: 'task';
  title: string;
}

const print = ({ title }: { title: string }) => `task ${asTyped(title)}`;

export const taskVerb: JobVerb<TaskCommand> = {
  verb: 'task',
  usage: 'task <title>',
  does: "creates a task in the channel's project",
  examples: ['task Renew the certificate'],
  read(text) {
    const title = unquoted(text);
    return title === '' ? { missing: 'a title' } : { command: { verb: 'task', title } };
  },
  print,
  doubt: ({ title }) => doubtOfTitle('task', title),
  permission: 'task',
  needsProject: true,
  job: (command, origin, { slack }) =>
    taskJobs.draft({
      ...eventOf('task', print(command), origin),
      input: {
        projectId: slack?.channels[origin.channelId ?? '']?.projectId,
        title: command.title,
        origin: `Created in Slack by @${origin.byName}`,
      },
    }),
};
