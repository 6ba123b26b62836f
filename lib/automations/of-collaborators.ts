import type { Automation } from '../jobs/automation.ts';
import { NotDone } from '../jobs/interruption.ts';
import type { Job, Unproven } from '../jobs/job.ts';
import type { Steps } from '../jobs/steps.ts';
import type { Tools } from './tools.ts';

/**
 * The automation, but only at the word of the repository's own people: GitHub is asked where the payload did not show
 * it. A stranger gets no answer to a command, so that nobody can have the relay write comments.
 */
export function ofCollaborators(automation: Automation, { collaborators }: Tools): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const who = job.asked?.unproven;
      if (!who || (await isCollaborator(job, who, steps))) return automation.run(job, steps);
      if (who.otherwise !== undefined) throw new NotDone(who.otherwise);
      const text = `nothing to do: @${who.login} is no collaborator, of whom alone commands are taken`;
      return { text, isUntold: true };
    },
  };

  async function isCollaborator({ replyTo }: Job, { login }: Unproven, steps: Steps): Promise<boolean> {
    if (login === undefined || replyTo?.in !== 'github') return false;
    const look = () => collaborators.has(replyTo, login).then((is) => is ?? false);
    return steps.read(`is @${login} a collaborator`, 'GitHub permission', look);
  }
}
