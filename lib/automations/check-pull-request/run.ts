import { closedIssues, relationLines } from '../../commands/relation-lines.ts';
import { idIn } from '../../commands/words.ts';
import type { CheckPullRequestConfig } from '../../config/schema.ts';
import { findRepository } from '../../config/settings.ts';
import type { Unproven } from '../../engine/record/job.ts';
import { asInterruption } from '../../engine/run/as-interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { heldBy } from '../../links/link-life.ts';
import { isBot, unprovenAuthor } from '../../platforms/github/association.ts';
import { setCheckRun } from '../../platforms/github/checks/check-runs.ts';
import { openPulls } from '../../platforms/github/checks/open-pulls.ts';
import { fetchIssue } from '../../platforms/github/fetch-issue.ts';
import { GithubRefusal, type RepositoryAddress } from '../../platforms/github/github-client.ts';
import type { OpenPull } from '../../platforms/github/payload.ts';
import { issueEntity } from '../issue-to-defect/jobs.ts';
import { isCollaborator } from '../of-collaborators.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { checkJobs, EXTERNAL_IDS } from './jobs.ts';
import { taskExists } from './task-exists.ts';
import * as verdicts from './verdict.ts';

/** How many issues, and how many tasks, the relay looks up for a pull request. */
const MOST_NAMED = 5;

/** The run's context, and the repository of the check. */
interface At extends RunContext {
  place: RepositoryAddress;
  steps: JobSteps;
}

/**
 * Checks whether the pull requests that have a commit as their head are tracked: each must close an issue that has a
 * defect, or name an existing task.
 */
export const run = defineRun(checkJobs, async (input, steps, context) => {
  const { config, clock, github, job } = context;
  const { repository, installationId, headSha, rerunBy } = input;
  const settings = findRepository(config, repository)?.checkPullRequest;
  if (!settings) return `nothing to do: ${repository} is not configured for ${checkJobs.name}`;
  const place: RepositoryAddress = { repository, installationId };

  async function set(step: string, externalId: string, verdict: verdicts.Verdict, mayPark = true) {
    const run = { ...verdict, name: settings?.name ?? '', headSha, externalId };
    const make = (mayLeave: () => void) =>
      setCheckRun(github, place, run, mayLeave).catch((error: unknown) => {
        if (mayPark || !(error instanceof GithubRefusal)) throw error;
        return { leftOut: error.message };
      });
    const made = await steps.reply(step, { calls: 'GitHub check', find: async () => undefined, make });
    return 'leftOut' in made
      ? `no check: ${made.leftOut}`
      : `check ${made.id} says ${verdict.conclusion}: ${verdict.title}`;
  }

  if (input.isInMergeQueue) return set('check', EXTERNAL_IDS.mergeQueue, verdicts.inMergeQueue);
  // Each run reads the pull requests again, because they may have changed while the job waited.
  const pulls = await openPulls(github, place, headSha);
  if (pulls.length === 0) return 'nothing to do: no open pull request has this head, or GitHub does not show it';
  const verdict = await decide(pulls, rerunBy, settings, { ...context, place, steps }).catch(async (error: unknown) => {
    const open = verdicts.failsOpen(asInterruption(error, clock()), job.attempts);
    if (open) await set('check passes for now', EXTERNAL_IDS.pullRequests, open);
    throw error;
  });
  // An outsider's pull request must not park jobs.
  const notChecked = [verdicts.ofStranger, verdicts.ofBot, verdicts.ofOtherBase];
  const mayPark = notChecked.every(({ title }) => title !== verdict.title);
  return set('check', EXTERNAL_IDS.pullRequests, verdict, mayPark);
});

/**
 * Returns the strictest result of the collaborators' pull requests. If there are none, and a collaborator pressed
 * **Re-run**, returns the best result, so that one outsider cannot spoil another's check.
 */
async function decide(
  pulls: readonly OpenPull[],
  rerunBy: string | undefined,
  settings: CheckPullRequestConfig,
  at: At,
): Promise<verdicts.Verdict> {
  const isTeams = (who: Unproven | undefined) => !who || isCollaborator(at.place, who, at.steps, at.collaborators);
  const into = pulls.filter(({ base }) => base.ref === base.repo.default_branch);
  if (into.length === 0) return verdicts.ofOtherBase;
  const counting: OpenPull[] = [];
  for (const pull of into) {
    if (await isTeams(unprovenAuthor(pull.user, pull.author_association))) counting.push(pull);
  }
  const isLookedUp = counting.length > 0 || (rerunBy !== undefined && (await isTeams({ login: rerunBy })));
  // No result is stricter than a failure. Pull requests without tasks come first: their check needs no call to the
  // service, so a failure is reported even while the service is down.
  const asked = (counting.length > 0 ? counting : into).toSorted((a, b) => tasksOf(a).length - tasksOf(b).length);
  const decided: { number: number; verdict: verdicts.Verdict }[] = [];
  for (const pull of asked) {
    const verdict = await verify(pull, isLookedUp, rerunBy !== undefined, settings, at);
    if (verdict === verdicts.ofStranger) return verdict;
    decided.push({ number: pull.number, verdict });
    if (verdict.conclusion === (counting.length > 0 ? 'failure' : 'success')) break;
  }
  const all = asked.map(({ number }) => number);
  return verdicts.ofCommit(decided, all, counting.length > 0 ? 'strictest' : 'best');
}

async function verify(
  pull: OpenPull,
  isLookedUp: boolean,
  isAfresh: boolean,
  { exemptLabels }: CheckPullRequestConfig,
  at: At,
): Promise<verdicts.Verdict> {
  const { place, job, steps } = at;
  const { body, html_url, user, labels } = pull;
  if (isBot(user)) return verdicts.ofBot;
  const isExempt = ({ name }: { name: string }) =>
    exemptLabels.some((label) => label.toLowerCase() === name.toLowerCase());
  const label = labels.find(isExempt);
  if (label) return verdicts.exempt(label.name);
  if (!isLookedUp) return verdicts.ofStranger;

  // Readers of this check may have no access to issues of other repositories.
  const { own = [], elsewhere } = Object.groupBy(closedIssues(body ?? '', place.repository, html_url), (name) =>
    name.toLowerCase().startsWith(`${place.repository.toLowerCase()}#`) ? 'own' : 'elsewhere',
  );
  const closed = own.slice(0, MOST_NAMED);
  const tasks = tasksOf(pull);
  const fates = await Promise.all(closed.map((name) => defectOf(name, at)));
  const tracked = closed.find((_, index) => fates[index] === 'made');
  if (tracked !== undefined) return verdicts.closesTracked(tracked);
  for (const id of tasks) {
    if (await taskExists(id, job.connection, isAfresh, steps, at)) return verdicts.namesTask(id);
  }
  const pending = closed.find((_, index) => fates[index] === 'wanted');
  if (pending !== undefined) return verdicts.closesPending(pending);
  const named = [...closed, ...tasks.map((id) => `task ${id}`)];
  return named.length > 0 ? verdicts.nothingFound(named) : verdicts.namesNothing(elsewhere, taskLines(pull));
}

/**
 * Returns `made` if the issue has a defect, and `wanted` if it should get one. Only a claimed link can be found by
 * name.
 */
async function defectOf(name: string, at: At): Promise<'made' | 'wanted' | undefined> {
  const { links } = at;
  const entity = (await links.named(name)) ?? (await entityOf(Number(name.split('#').at(-1)), at));
  const link = entity === undefined ? undefined : await links.look(entity);
  if (!link) return undefined;
  if (heldBy(link).defect) return 'made';
  return link.newest?.wanted ? 'wanted' : undefined;
}

async function entityOf(issueNumber: number, { github, place }: At): Promise<string | undefined> {
  const issue = await fetchIssue(github, { ...place, issueNumber });
  return issue && issueEntity(issue.id);
}
/** The ids of the tasks named by a pull request. */
const tasksOf = (pull: OpenPull): string[] =>
  taskLines(pull)
    .filter((named) => idIn(named) === named)
    .slice(0, MOST_NAMED);

/** The tasks that a pull request names, by their ids or names. */
const taskLines = ({ body }: OpenPull): string[] =>
  relationLines(body ?? '').flatMap(({ kind, named }) => (kind === 'task' ? named : []));
