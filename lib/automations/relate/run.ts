import type { RelayConfig } from '../../config/schema.ts';
import { findRepository, unservedCommand } from '../../config/settings.ts';
import { ifRefused, NotDone, Refused, RetryAt } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import type { Outcome } from '../../engine/run/tell-person.ts';
import { heldBy } from '../../links/link-life.ts';
import type { DefectName } from '../../links/relations.ts';
import { keptForMs } from '../../platforms/github/delivery.ts';
import { fetchIssue } from '../../platforms/github/fetch-issue.ts';
import type { GithubIssue } from '../../platforms/github/payload.ts';
import { linkDefect } from '../../service/partner/operations/defects.ts';
import type { RelationTarget } from '../../target.ts';
import { taskExists } from '../check-pull-request/task-exists.ts';
import { reportedState } from '../issue-to-defect/defect-text.ts';
import { createTransfers } from '../issue-to-defect/issue-transfers.ts';
import { issueEntity } from '../issue-to-defect/jobs.ts';
import { didYouMean, findTask, TASK_ID, tasksOfKey } from '../log-time/find-task.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { relateJobs } from './jobs.ts';
import { relateDefect, TARGET_FIELDS } from './relate-defect.ts';

/**
 * How long a job pauses while its issue or defect does not exist yet: about as long as it has waited so far. The job
 * waits as long as GitHub may redeliver.
 */
const WAIT_MS = { shortest: 10_000, longest: 60 * 60_000 };

const PAGES = { task: 'tasks', 'test case': 'testCases', 'test step': 'testSteps' } as const;

/** Links the defect of an issue, or a defect that a person named, to a task, a test case or a test step. */
export const run = defineRun(relateJobs, async ({ defect, issue = '', to }, steps, context) => {
  const { job, config } = context;
  const { mcp } = config.connections[job.connection] ?? {};
  const unserved =
    defect !== undefined && mcp ? unservedCommand('relate', mcp, `${config.slack?.command} relate`) : undefined;
  if (unserved !== undefined) throw new NotDone(unserved);
  const id =
    defect === undefined ? await defectOf(issue, context) : await steps.idFrom(linkDefect, 'defect_id', defect);
  if (id === undefined) return untold('the issue has no defect');
  const outcome = await targetOf(to, steps)
    .catch(ifRefused('this search', job.replyTo?.in === 'github'))
    .then((target) => link({ connection: job.connection, id }, target, steps, context))
    .catch((error: unknown) => {
      if (defect !== undefined || !(error instanceof NotDone)) throw error;
      throw new NotDone(`${error.message}. If you correct the line in the description, Partner Relay reads it again`);
    });
  return defect === undefined ? outcome : { ...outcome, isUntold: false };
});

async function link(
  defect: DefectName,
  target: RelationTarget,
  steps: JobSteps,
  context: RunContext,
): Promise<Outcome> {
  const { job } = context;
  const what = `defect ${defect.id} to ${target.kind} ${target.id}`;
  const { by, isMade } = await relateDefect(defect, target, { ...context, steps }).catch(async (error: unknown) => {
    // See docs/partner-api.md#statuses for the meaning of the statuses.
    if (!(error instanceof Refused) || error.refusal.status === 403) throw error;
    throw new NotDone(`Could not link ${what}: ${await whyRefused(defect.id, target, steps, context)}`);
  });
  const things = [{ kind: 'defects', id: defect.id } as const, { kind: PAGES[target.kind], id: target.id }];
  if (by === job.id) return { text: `linked ${what}`, about: things };
  const linked = `defect ${defect.id} is already linked to ${target.kind} ${target.id}`;
  return untold(isMade ? linked : `job ${by} links ${what}, and is not finished`);
}

/** Explains which of the two ids is wrong. The service shows only whether a task exists. */
async function whyRefused(
  defect: DefectName['id'],
  { kind, id }: RelationTarget,
  steps: JobSteps,
  context: RunContext,
): Promise<string> {
  const unclear = `either defect ${defect} or ${kind} ${id} does not exist in the service`;
  const { slack } = context.config;
  const isTask = (id: string | number) => taskExists(String(id), context.job.connection, false, steps, context);
  try {
    const isTargetTask = kind === 'task' && (await isTask(id));
    if (await isTask(defect)) {
      const swapped =
        kind === 'task' && !isTargetTask && slack ? `. Did you mean ${slack.command} relate ${id} task ${defect}?` : '';
      return `${defect} is the id of a task, not of a defect${swapped}`;
    }
    if (kind !== 'task') return unclear;
    return isTargetTask ? `there is no defect ${defect}` : `there is no task ${id}`;
  } catch (error) {
    // The key may not read tasks.
    if (error instanceof Refused) return unclear;
    throw error;
  }
}

/** @throws {RetryAt} while the defect is about to be created, or GitHub may still deliver the issue */
async function defectOf(issue: string, context: RunContext): Promise<DefectName['id'] | undefined> {
  const { job, config, links, clock } = context;
  const { locate } = createTransfers(context);
  // Only a claimed link can be found by name.
  const named = issue.includes('#') ? await links.named(issue) : issue;
  const shown = named === undefined ? await shownIssue(issue, context) : undefined;
  const first = named ?? (shown && issueEntity(shown.id));
  const link = first === undefined ? undefined : (await locate(first, job)).link;
  const { claim, defect } = link ? heldBy(link) : {};
  if (defect) return claim?.connection === job.connection ? defect.id : undefined;
  const waited = clock() - job.createdAt;
  const isWanted = link?.newest ? link.newest.wanted : !shown || isWantedNow(issue, shown, config);
  if (!(link?.life === 'claimed' || isWanted) || waited > keptForMs(config.github.apiUrl)) return undefined;
  const dueAt = clock() + Math.min(Math.max(waited, WAIT_MS.shortest), WAIT_MS.longest);
  throw new RetryAt(dueAt, 'its issue has no defect yet', { releasesQueueGroup: true, waitsFor: 'job' });
}

function shownIssue(name: string, { job: { replyTo }, github }: RunContext): Promise<GithubIssue | undefined> {
  const [repository = '', number] = name.split('#');
  const isSame = replyTo?.in === 'github' && replyTo.repository.toLowerCase() === repository.toLowerCase();
  const installationId = isSame ? replyTo.installationId : undefined;
  return fetchIssue(github, { repository, issueNumber: Number(number), installationId });
}

/** Returns true if GitHub shows that an issue without a link should have a defect. */
function isWantedNow(name: string, issue: GithubIssue, config: RelayConfig): boolean {
  const settings = findRepository(config, name.replace(/#.*/, ''));
  return settings?.issueToDefect !== undefined && reportedState(issue, settings.name, settings.issueToDefect).wanted;
}
/** @throws {NotDone} if no task or several tasks have that name */
async function targetOf(
  { kind, named }: { kind: RelationTarget['kind']; named: string },
  steps: JobSteps,
): Promise<RelationTarget> {
  if (kind !== 'task' || TASK_ID.test(named)) {
    return { kind, id: await steps.idFrom(linkDefect, TARGET_FIELDS[kind], named) };
  }
  const found = await findTask({ task: named, day: 'today' }, tasksOfKey(steps));
  if ('task' in found) return { kind, id: found.task.id };
  const ids = found.offered.map(({ task }) => task.id).join(', ');
  const meant = ids === '' ? "Give the task's id, or its whole name" : `${didYouMean(found.offered)} Task ${ids}`;
  throw new NotDone(`${found.fault}. Nothing was linked. ${meant}`);
}

const untold = (why: string): Outcome => ({ text: `nothing to do: ${why}`, isUntold: true });
