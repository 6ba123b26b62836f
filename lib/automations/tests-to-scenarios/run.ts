import { findRepository } from '../../config/settings.ts';
import type { TestsConfig } from '../../config/tests.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import { type Refused, RetryAt } from '../../engine/record/interruption.ts';
import { jobId } from '../../engine/record/job.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { setNewest } from '../../engine/run/newest-wins.ts';
import { setCheckRun } from '../../platforms/github/checks/check-runs.ts';
import type { RepositoryAddress } from '../../platforms/github/github-client.ts';
import { isOnBranch } from '../../platforms/github/runs/on-branch.ts';
import { updateTestScenario } from '../../service/partner/operations/test-scenarios.ts';
import { counted, cutToLength } from '../../text.ts';
import { failingTestsJobs } from '../failing-tests-to-defect/jobs.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { checkOf, isSent, type ShownScenario } from './check-text.ts';
import { takeFailing } from './failing-cases.ts';
import { attemptOf, testRunJobs, type WorkflowRun } from './jobs.ts';
import type { RunResults } from './read-run.ts';
import { noteResult, type ScenarioVerdict } from './scenario-results.ts';
import { type CaseResult, keyOf, type ScenarioResult } from './tally.ts';
import { wantedArtifacts } from './wanted-artifacts.ts';

/** The name shown on the commit. */
const CHECK = 'Partner Relay: tests';
/** How long to wait for artifacts, because GitHub's lists may lag behind its events. */
const ARTIFACTS_APPEAR_MS = 2 * 60_000;
const LOOKS_EVERY_MS = 30_000;
/** How long downloading the archives takes at most, and how long storing their results. */
const FETCHING_MS = 35_000;
const KEEPING_MS = 5_000;
/** If more cases of one run fail twice, one defect is created for all of them. */
const MOST_DEFECTS = 10;
const OUTCOME_LENGTH = 500;

/**
 * Updates the test scenarios that the tests of a workflow run name. Level-triggered: the state of a scenario is
 * compared with the state sent last, and a run older than the newest one changes nothing.
 */
export const run = defineRun(testRunJobs, async ({ repository, installationId, run }, steps, context) => {
  const { config, table, github, jobs, job } = context;
  const settings = findRepository(config, repository)?.tests;
  if (!settings) return `nothing to do: ${repository} has no tests in relay.config.ts any more`;
  const place = { repository, installationId };
  const { head_branch: branch, head_sha: sha } = run;
  const isOn = await steps.read('branch', 'GitHub branch', () => isOnBranch(github, place, branch ?? '', sha));
  if (!isOn) return `nothing to do: ${sha} is not on the branch ${branch}`;
  const results = await read(run, place, settings, steps, context);
  const { scenarios, cases, unread, broken } = results;
  const isWhole = unread.length === 0 && !broken;
  const shown: ShownScenario[] = [];
  for (const one of scenarios) {
    const verdict = await noteResult(table, job.connection, repository, run, one, isWhole);
    const became = typeof verdict === 'string' ? verdict : await sendChanges(one.id, verdict, settings, steps, context);
    shown.push({ ...one, became });
  }
  const defects = settings.defects ? await makeDefects(repository, run, cases, isWhole, steps, context) : 0;
  const check = checkOf({ run, results, shown, defects });
  // All attempts share one check, and the next attempt may be delivered before this one.
  const next = jobId(testRunJobs.name, ...attemptOf({ ...run, run_attempt: run.run_attempt + 1 }));
  const make = async (mayLeave: () => void) =>
    (await jobs.get(next))
      ? null
      : setCheckRun(github, place, { name: CHECK, headSha: sha, externalId: String(run.id), ...check }, mayLeave);
  await steps.reply('check', { calls: 'GitHub check', find: async () => undefined, make });
  const waits = shown.flatMap(({ became }) => (typeof became === 'object' ? [became.until] : []));
  if (waits.length > 0) {
    const why = 'an older update of a scenario without an answer may still arrive';
    throw new RetryAt(Math.max(...waits), why, { releasesQueueGroup: true, waitsFor: 'late call' });
  }
  const sent = shown.filter(isSent).map(({ id }) => id);
  return `${check.title}${sent.length > 0 ? `: ${cutToLength(sent.join(', '), OUTCOME_LENGTH, '…')}` : ''}`;
});

/** Reads the artifacts, over several runs of the job if GitHub is slow. */
async function read(
  run: WorkflowRun,
  place: RepositoryAddress,
  settings: TestsConfig,
  steps: JobSteps,
  { job: { lease }, artifacts, clock }: RunContext,
): Promise<RunResults> {
  const isLeft = (ms: number) => lease === undefined || clock() + ms < lease.until;
  const { wanted, unread } = await steps.read('artifacts', 'GitHub artifacts', async () => {
    const found = wantedArtifacts(await artifacts.list(place, run.id), settings.artifacts);
    if (found.wanted.length > 0 || clock() >= Date.parse(run.updated_at) + ARTIFACTS_APPEAR_MS) return found;
    throw new RetryAt(clock() + LOOKS_EVERY_MS, 'the artifact is not there yet', { releasesQueueGroup: true });
  });
  let results: RunResults | undefined;
  for (let part = 1; !results || results.read.length + results.unread.length < wanted.length; part++) {
    const before = results;
    results = await steps.read(`test results ${part}`, 'GitHub artifacts', async () => {
      if (!isLeft(FETCHING_MS)) throw new RetryAt(clock(), 'this run has no time left to read the artifacts');
      // The readers for archives and XML are loaded only here.
      const { readRun } = await import('./read-run.ts');
      const fetch = (id: number, most: number) => artifacts.fetch(place, id, most);
      const time = { clock, mayFetch: () => isLeft(FETCHING_MS), isOver: () => !isLeft(KEEPING_MS) };
      return readRun(wanted, before, settings.ids, fetch, time, run.conclusion !== 'success');
    });
  }
  return { ...results, unread: [...results.unread, ...unread] };
}

/** Sends the changed fields of a scenario. */
async function sendChanges(
  id: ScenarioResult['id'],
  { place, hasFailed, coverage }: ScenarioVerdict,
  settings: TestsConfig,
  steps: JobSteps,
  context: RunContext,
): Promise<ShownScenario['became']> {
  const fields = {
    status: hasFailed ? settings.status.failed : settings.status.passed,
    ...(settings.coverage && coverage !== undefined && { coverage_percentage: coverage }),
  };
  const scenario_id = await steps.idFrom(updateTestScenario, 'scenario_id', String(id));
  const setting = { kind: 'test scenario', id: String(id), place, value: fields, unlessTold: true };
  const fate = await setNewest(context, context.job, setting, (number, fence) =>
    steps.set(`scenario ${id} ${number}`, updateTestScenario, { scenario_id, ...fields }, fence, notTaken),
  );
  return typeof fate === 'object' && 'refused' in fate ? 'refused' : fate;
}

/**
 * Drafts a job for each defect that is due. A repeat after a crash drafts the same jobs.
 * @returns how many cases they cover
 */
async function makeDefects(
  repository: string,
  run: WorkflowRun,
  cases: readonly CaseResult[],
  isWhole: boolean,
  steps: JobSteps,
  { job: { id, connection }, table, jobs, queue }: RunContext,
): Promise<number> {
  const due = await steps.read('failing tests', 'test results', () =>
    takeFailing(table, repository, run, cases, isWhole),
  );
  const { workflow, head_branch: branch } = run;
  for (const tests of due.length > MOST_DEFECTS ? [due] : due.map((one) => [one])) {
    const what = tests.length > 1 ? counted(tests.length, 'test case') : tests.map(keyOf).join();
    const draft = failingTestsJobs.draft({
      // One defect for as long as a test fails; with many tests, one for the run.
      happened: [repository, workflow, branch ?? '', what, tests.length > 1 ? run.id : (tests[0]?.first.id ?? 0)],
      connection,
      lane: 'background',
      entity: `failing-${repository}`,
      summary: `${repository}: a defect for ${what}, failing twice in ${workflow}`,
      input: { repository, workflow, branch: branch ?? '', tests },
      cause: { from: 'job', id },
    });
    await acceptEvent(draft, { jobs, queue });
  }
  return due.length;
}
/** Returns why the service refused the content. @throws {Refused} for a refusal that does not depend on the content */
function notTaken(refusal: Refused): string {
  if ([400, 404, 422].includes(refusal.refusal.status ?? 0)) return 'the service refuses it';
  throw refusal;
}
