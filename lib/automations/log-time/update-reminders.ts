import * as z from 'zod/mini';
import type { Job } from '../../engine/record/job.ts';
import type { ReplySteps } from '../../engine/run/reply-steps.ts';
import { reminderMessage } from '../../timesheets/reminder-message.ts';
import type { NotedEntry } from '../../timesheets/reminders.ts';
import type { Context } from '../context.ts';
import type { TimeToLog } from './command.ts';

/**
 * Lets the reminders of a person say what is missing once time is logged. The time is logged whatever comes of this, so no
 * failure of Slack ends or repeats the job.
 */
export function createUpdateReminders({ config, people, reminders, slack, clock }: Context) {
  return async ({ by }: TimeToLog, entry: NotedEntry, job: Job, steps: Pick<ReplySteps, 'read'>): Promise<void> => {
    const { connection } = job;
    const userId = people.holdersFor(by).find((holder) => holder.in === 'slack')?.id;
    if (!config.timesheets || !slack || userId === undefined) return;
    for (const sent of await reminders.note({ connection, userId }, job.id, entry)) {
      const { channel, ts } = sent;
      const message = reminderMessage({ ...sent, connection, at: clock() });
      await steps.read(`update the reminder of ${sent.date}`, 'Slack chat.update', async () => {
        try {
          await slack.call('chat.update', { channel, ts, ...message }, z.object({}));
          return 'updated';
        } catch (error) {
          return String(error);
        }
      });
    }
  };
}
