import { NeedsOperator, NotDone } from '../engine/record/interruption.ts';
import type { Job, Unproven } from '../engine/record/job.ts';
import type { Automation } from '../engine/run/automation.ts';
import type { Steps } from '../engine/run/steps.ts';
import type { Context } from './context.ts';

/**
 * Runs the automation only for people who may at least triage issues of the repository. If the payload did not show
 * that, GitHub is asked: docs/decisions/0018-words-of-strangers.md. Outsiders get no answer to a command, so that they
 * cannot make the relay write comments.
 */
export function ofCollaborators(automation: Automation, { collaborators }: Context): Automation {
  return {
    ...automation,
    async run(job, steps) {
      const who = job.asked?.unproven;
      if (!who || (await mayCommand(job, who, steps))) return automation.run(job, steps);
      if (who.otherwise !== undefined) throw new NotDone(who.otherwise);
      if (who.isShown)
        throw new NotDone(`@${who.login}: commands need the role triage in this repository, or a higher one`);
      const text = `nothing to do: @${who.login} is not a collaborator, and only collaborators can give commands`;
      return { text, isUntold: true };
    },
  };

  async function mayCommand({ replyTo }: Job, { login, isShown = false }: Unproven, steps: Steps): Promise<boolean> {
    if (login === undefined || replyTo?.in !== 'github') return false;
    return steps.read(`may @${login} give commands`, 'GitHub permission', async () => {
      const answer = await collaborators.has(replyTo, login);
      if (answer === 'no credentials') return isShown;
      // An outsider must not park jobs.
      if (answer === 'not told' && isShown) throw new NeedsOperator(cannotAsk(replyTo.repository));
      return answer === true;
    });
  }
}

const cannotAsk = (repository: string) =>
  `GitHub does not tell the relay which role a member has in ${repository}: install the App there, or use a token of a ` +
  'user with push access';
