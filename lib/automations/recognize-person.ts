import * as z from 'zod/mini';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import type { Tools } from './tools.ts';

export const recognitionJobs = defineJobs('recognize-person', z.object({}));

/** Finds out who somebody is in the service, for a form that may open only for people whom the service knows. */
export function recognizePerson({ people }: Tools): Automation {
  return defineAutomation(recognitionJobs, async (_input, { replyTo, connection }, steps) => {
    if (replyTo?.in === 'slack') await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
    return 'the relay knows who you are now; please ask for the form again';
  });
}

/** The automation, for people in Slack only whom the service knows. */
export function onlyForKnown(automation: Automation, { people }: Tools): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const { replyTo, connection } = job;
      if (replyTo?.in === 'slack') await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
      return automation.run(job, steps);
    },
  };
}
