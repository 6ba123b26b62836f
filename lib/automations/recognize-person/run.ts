import { requiresLink } from '../../config/settings.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Context } from '../context.ts';
import { recognitionJobs } from './draft.ts';

/** Finds a person's user in the service, for a form that opens only for known users. */
export function recognizePerson({ people }: Context): Automation {
  return defineAutomation(recognitionJobs, async (_input, { replyTo, connection }, steps) => {
    if (replyTo?.in === 'slack') await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
    return 'the relay knows who you are now; please ask for the form again';
  });
}

/** Runs the automation only for people in Slack who are known users of the service. A linked account shows that, too. */
export function onlyForKnown(automation: Automation, { people, config }: Context): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const { replyTo, connection } = job;
      if (replyTo?.in === 'slack' && !requiresLink(config, connection))
        await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
      return automation.run(job, steps);
    },
  };
}
