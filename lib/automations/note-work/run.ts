import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { noteClosedWork } from '../../timesheets/closed-work.ts';
import type { Context } from '../context.ts';
import { workJobs } from './draft.ts';

/** Notes what a person finished, for the reminder of their timesheet. Nothing is sent. */
export function noteWork(context: Context): Automation {
  return defineAutomation(workJobs, async ({ login, ...work }) => {
    await noteClosedWork(login, work, context);
    return `noted for the timesheet of @${login}: ${work.did}`;
  });
}
