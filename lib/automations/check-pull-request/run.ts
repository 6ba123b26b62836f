import { closedIssues, relationLines } from '../../commands/relation-lines.ts';
import { idIn } from '../../commands/words.ts';
import { findRepository } from '../../config/find-repository.ts';
import type { CheckPullRequestConfig } from '../../config/schema.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import { heldBy } from '../../links/link-life.ts';
import { isBot, unprovenAuthor } from '../../platforms/github/association.ts';
import { setCheckRun } from '../../platforms/github/checks/check-runs.ts';
import { fetchPull } from '../../platforms/github/checks/fetch-pull.ts';
import type { CheckedPull } from '../../platforms/github/checks/payloads.ts';
import { fetchIssue } from '../../platforms/github/fetch-issue.ts';
import type { RepositoryAddress } from '../../platforms/github/github-client.ts';
import type { Context } from '../context.ts';
import { issueEntity } from '../issue-to-defect/draft.ts';
import { isCollaborator } from '../of-collaborators.ts';
import { checkJobs, externalIdOf } from './draft.ts';
import { taskExists } from './task-exists.ts';
import * as verdicts from './verdict.ts';

/** How many issues, and how many tasks, of a pull request are looked up. */
const MOST_NAMED = 5;

/** Checks whether a pull request is tracked: it closes an issue that has a defect, or names a task that exists. */
export function checkPullRequest(context: Context): Automation {
  const { config, github, links, collaborators } = context;

  return defineAutomation(checkJobs, async ({ repository, installationId, of }, job, steps) => {
    const settings = findRepository(config, repository)?.checkPullRequest;
    if (!settings) return `nothing to do: ${repository} is not configured for ${checkJobs.name}`;
    const place: RepositoryAddress = { repository, installationId };

    async function set(step: string, headSha: string, externalId: string, verdict: verdicts.Verdict, mayPark = true) {
      const run = { ...verdict, name: settings?.name ?? '', headSha, externalId };
      const make = () =>
        setCheckRun(github, place, run).catch((error: unknown) => {
          if (mayPark || !(error instanceof NeedsOperator)) throw error;
          return { leftOut: error.message };
        });
      const made = await steps.reply(step, { calls: 'GitHub check', find: async () => undefined, make });
      return 'leftOut' in made
        ? `no check: ${made.leftOut}`
        : `check ${made.id} says ${verdict.conclusion}: ${verdict.title}`;
    }

    if ('headSha' in of) return set('check', of.headSha, 'merge queue', verdicts.inMergeQueue);
    // Read by each run, and not kept: after a wait, the check has to fit what the pull request says then.
    const pull = await fetchPull(github, { ...place, issueNumber: of.pullNumber });
    if (pull?.state !== 'open') return 'nothing to do: the pull request is closed, or GitHub does not show it';
    const { sha } = pull.head;
    const externalId = externalIdOf(of.pullNumber);
    const verdict = await verify(pull, of.rerunBy, settings, { place, job, steps }).catch(async (error: unknown) => {
      const open = verdicts.failsOpen(error, job.attempts);
      if (open) await set('check passes for now', sha, externalId, open);
      throw error;
    });
    // An outsider must not park jobs.
    return set('check', sha, externalId, verdict, verdict !== verdicts.ofStranger);
  });

  async function verify(
    { body, user, author_association, labels }: CheckedPull,
    rerunBy: string | undefined,
    { exemptLabels }: CheckPullRequestConfig,
    { place, job, steps }: { place: RepositoryAddress; job: Job; steps: Steps },
  ): Promise<verdicts.Verdict> {
    if (isBot(user)) return verdicts.ofBot;
    const isExempt = ({ name }: { name: string }) =>
      exemptLabels.some((label) => label.toLowerCase() === name.toLowerCase());
    const label = labels.find(isExempt);
    if (label) return verdicts.exempt(label.name);

    const who = rerunBy === undefined ? unprovenAuthor(user, author_association) : { login: rerunBy };
    if (who && !(await isCollaborator(place, who, steps, collaborators))) return verdicts.ofStranger;

    // Those of other repositories may be hidden from who reads this check.
    const closed = closedIssues(body ?? '', place.repository)
      .filter((name) => name.toLowerCase().startsWith(`${place.repository.toLowerCase()}#`))
      .slice(0, MOST_NAMED);
    const tasks = relationLines(body ?? '')
      .flatMap(({ kind, named }) => (kind === 'task' && idIn(named) === named ? named : []))
      .slice(0, MOST_NAMED);
    const fates = await Promise.all(closed.map((name) => defectOf(name, place)));
    const tracked = closed.find((_, index) => fates[index] === 'made');
    if (tracked !== undefined) return verdicts.closesTracked(tracked);
    for (const id of tasks) {
      if (await taskExists(id, job.connection, rerunBy !== undefined, steps, context)) return verdicts.namesTask(id);
    }
    const pending = closed.find((_, index) => fates[index] === 'wanted');
    if (pending !== undefined) return verdicts.closesPending(pending);
    const named = [...closed, ...tasks.map((id) => `task ${id}`)];
    return named.length > 0 ? verdicts.nothingFound(named) : verdicts.namesNothing;
  }

  /** Whether the issue has a defect, or should have one. Its link is known by its name only once it is claimed. */
  async function defectOf(name: string, place: RepositoryAddress): Promise<'made' | 'wanted' | undefined> {
    const entity = (await links.named(name)) ?? (await entityOf(Number(name.split('#').at(-1)), place));
    const link = entity === undefined ? undefined : await links.look(entity);
    if (!link) return undefined;
    if (heldBy(link).defect) return 'made';
    return link.newest?.wanted ? 'wanted' : undefined;
  }

  async function entityOf(issueNumber: number, place: RepositoryAddress): Promise<string | undefined> {
    const issue = await fetchIssue(github, { ...place, issueNumber });
    return issue && issueEntity(issue.id);
  }
}
