import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Context } from '../context.ts';
import { workJobs } from './draft.ts';

/** Notes what a person finished, for the reminder of their timesheet. Nothing is sent. */
export function noteWork({ closedWorks }: Pick<Context, 'closedWorks'>): Automation {
  return defineAutomation(workJobs, async ({ login, ...work }) => {
    await closedWorks.note(login, work);
    return `noted for the timesheet of @${login}: ${work.did}`;
  });
}
