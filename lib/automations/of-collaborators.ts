import type { Automation } from '../jobs/automation.ts';
import { NotDone } from '../jobs/interruption.ts';
import type { Job, Unproven } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import type { Tools } from './tools.ts';

/**
 * Runs the automation only for the repository's collaborators. If the payload did not show that the author is one,
 * GitHub is asked. Outsiders get no answer to a command, so that they cannot make the relay write comments.
 */
export function ofCollaborators(automation: Automation, { collaborators }: Tools): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const who = job.asked?.unproven;
      if (!who || (await isCollaborator(job, who, steps))) return automation.run(job, steps);
      if (who.otherwise !== undefined) throw new NotDone(who.otherwise);
      const text = `nothing to do: @${who.login} is not a collaborator, and only collaborators can give commands`;
      return { text, isUntold: true };
    },
  };

  async function isCollaborator({ replyTo }: Job, { login }: Unproven, steps: Steps): Promise<boolean> {
    if (login === undefined || replyTo?.in !== 'github') return false;
    const look = () => collaborators.has(replyTo, login).then((is) => is ?? false);
    return steps.read(`is @${login} a collaborator`, 'GitHub permission', look);
  }
}
