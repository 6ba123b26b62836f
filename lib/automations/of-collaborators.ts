import { NeedsOperator, NotDone } from '../engine/record/interruption.ts';
import type { Job, Unproven } from '../engine/record/job.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { Outcome } from '../engine/run/tell-person.ts';
import type { Collaborators } from '../platforms/github/collaborators.ts';
import type { RepositoryAddress } from '../platforms/github/github-client.ts';
import type { Context } from './context.ts';

/**
 * Checks that the person who asked has at least triage permission in the repository. Asks GitHub if the payload did not
 * show it: docs/decisions/0018-words-of-strangers.md. Outsiders get no answer to a command, so that they cannot make
 * the relay write comments.
 *
 * @returns the outcome for an outsider, or undefined
 * @throws {NotDone} if the outsider gets an answer
 */
export async function outcomeOfOutsider(
  { asked, replyTo }: Job,
  steps: JobSteps,
  { collaborators }: Pick<Context, 'collaborators'>,
): Promise<Outcome | undefined> {
  const who = asked?.unproven;
  const place = who?.in ?? (replyTo?.in === 'github' ? replyTo : undefined);
  if (!who || (place && (await isCollaborator(place, who, steps, collaborators)))) return undefined;
  if (who.otherwise !== undefined) throw new NotDone(who.otherwise);
  if (who.isShown)
    throw new NotDone(
      `@${who.login}: commands need the role triage in this repository, or a higher one. An administrator of it can give you one`,
    );
  const text = `nothing to do: @${who.login} is not a collaborator, and only collaborators can give commands`;
  return { text, isUntold: true };
}

/** Returns true if a person has at least triage permission in the repository. The check is a step of the job. */
export async function isCollaborator(
  place: RepositoryAddress,
  { login, isShown = false }: Unproven,
  steps: JobSteps,
  collaborators: Collaborators,
): Promise<boolean> {
  if (login === undefined) return false;
  return steps.read(`may @${login} give commands`, 'GitHub permission', async () => {
    const answer = await collaborators.has(place, login);
    if (answer === 'no credentials') return isShown;
    // Parks only for people whom the payload shows as members, because an outsider must not park jobs.
    if (answer === 'not told' && isShown) throw new NeedsOperator(cannotAsk(place.repository));
    return answer === true;
  });
}

const cannotAsk = (repository: string) =>
  `GitHub does not tell the relay which role a member has in ${repository}: install the App there, or use a token of a ` +
  'user with push access';
