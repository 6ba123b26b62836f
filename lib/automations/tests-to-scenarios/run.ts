import { findRepository } from '../../config/find-repository.ts';
import type { TestsConfig } from '../../config/tests.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import { Refused, RetryAt } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import type { Steps } from '../../engine/run/steps.ts';
import type { Artifact } from '../../platforms/github/runs/artifacts.ts';
import { updateTestScenario } from '../../service/partner/operations/test-scenarios.ts';
import { EXECUTABLE_FOR_MS } from '../../service/partner/signed-request.ts';
import { cutToLength } from '../../text.ts';
import { isLike } from '../../wildcard.ts';
import type { Context } from '../context.ts';
import { failingTestsDraft } from '../failing-tests-to-defect/draft.ts';
import { checkOf, type ToldScenario } from './check-text.ts';
import { counts, testRunJobs, type WorkflowRun } from './draft.ts';
import { createFailingCases, type DueCase } from './failing-cases.ts';
import type { RunResults } from './read-run.ts';
import { createScenarioStates, placeOf, type ScenarioFields, type ScenarioStates } from './scenario-states.ts';
import { keyOf, type ScenarioResult } from './tally.ts';

/** GitHub's lists may lag behind its events. */
const ARTIFACTS_APPEAR_MS = 2 * 60_000;
const LOOKS_EVERY_MS = 30_000;
/** From more cases of one run than that, one defect is made for all. */
const MOST_DEFECTS = 10;
const OUTCOME_LENGTH = 500;
/** As in issue-to-defect: after the end of a run of a job, the service may take what it has signed for so long. */
const LATE_AFTER_RUN_MS = EXECUTABLE_FOR_MS + 60_000;

/**
 * Takes the test results of a workflow run to the test scenarios that the tests name. It is level-triggered: the state
 * of a scenario is compared with what was sent last, and a run that is older than the newest one changes nothing.
 */
export function testsToScenarios(context: Context): Automation {
  const { config, table, artifacts, checks, jobs, queue, clock } = context;

  return defineAutomation(testRunJobs, async ({ repository, installationId, run }, job, steps) => {
    const settings = findRepository(config, repository)?.tests;
    if (!settings) return `nothing to do: ${repository} has no tests in relay.config.ts any more`;
    const place = { repository, installationId };
    const results = await steps.read('test results', 'GitHub artifacts', async () => {
      const wanted = await wantedArtifacts();
      // The readers of archives and XML are loaded for this only.
      const { readRun } = await import('./read-run.ts');
      const read = await readRun(wanted, settings.ids, (id, mostBytes) => artifacts.fetch(place, id, mostBytes));
      return { ...read, old: wanted.filter(({ createdAt }) => createdAt < run.startedAt).map(({ name }) => name) };
    });
    // Where a part is missing, a test that failed may be in it.
    const isWhole = results.unread.length === 0 && (run.hasPassed || results.tests.failed > 0);
    const isCounted = counts(run, settings);
    const states = createScenarioStates(table, clock, job.connection);
    const told: ToldScenario[] = [];
    for (const scenario of isCounted ? results.scenarios : []) {
      told.push({ ...scenario, became: await tell(scenario, { job, run, settings, isWhole, states, steps }) });
    }
    const due = isCounted && settings.defects ? await takeFailing(run, results, isWhole, steps) : [];
    const waits = told.flatMap(({ became }) => (typeof became === 'object' ? [became.until] : []));
    const check = checkOf({ run, results, told, isCounted, defects: due.length });
    await steps.read('check', 'GitHub check', () =>
      checks.set(place, { name: CHECK, headSha: run.headSha, externalId: String(run.id), ...check }),
    );
    if (waits.length > 0) {
      const why = 'an older update of a scenario without an answer may still arrive';
      throw new RetryAt(Math.max(...waits), why, { releasesQueueGroup: true, waitsFor: 'answer' });
    }
    const sent = told.filter(({ became }) => became === 'sent').map(({ id }) => String(id));
    return sent.length === 0 ? check.title : `${check.title}: ${cutToLength(sent.join(', '), OUTCOME_LENGTH, '…')}`;

    async function wantedArtifacts(): Promise<Artifact[]> {
      const all = await artifacts.list(place, run.id);
      const wanted = all.filter(({ name }) => settings?.artifacts.some((pattern) => isLike(name, pattern)));
      if (wanted.length === 0 && clock() < run.endedAt + ARTIFACTS_APPEAR_MS) {
        throw new RetryAt(clock() + LOOKS_EVERY_MS, 'the artifact is not there yet', { releasesQueueGroup: true });
      }
      // What the newest attempt did not upload again is from jobs that were not run again.
      return [...new Map(wanted.toReversed().map((artifact) => [artifact.name, artifact])).values()];
    }

    /** Drafts a job for each defect that is due. A repeat after a crash makes the same jobs again. */
    async function takeFailing(run: WorkflowRun, { cases }: RunResults, isWhole: boolean, steps: Steps) {
      const failing = createFailingCases(table, repository);
      const due = await steps.read('failing tests', 'test results', () =>
        failing.take(run, isWhole ? cases : cases.filter(({ result }) => result === 'failed')),
      );
      const groups = due.length > MOST_DEFECTS ? [due] : due.map((one) => [one]);
      for (const tests of groups) {
        const draft = draftOf(tests, run, job, repository);
        await acceptEvent(draft, { jobs, queue });
        await failing.note(run, tests.map(keyOf), draft.id);
      }
      return due;
    }
  });
}

/** By this name people see it on a commit. */
const CHECK = 'Partner Relay: tests';

function draftOf(tests: readonly DueCase[], run: WorkflowRun, { id, connection }: Job, repository: string) {
  const [only, ...others] = tests;
  const happened = only && others.length === 0 ? [keyOf(only), only.first.id] : ['many', run.id];
  const { workflow, branch } = run;
  const input = { repository, workflow, branch: branch ?? '', tests: [...tests] };
  return failingTestsDraft(input, [branch ?? '', ...happened], { connection, cause: { from: 'job', id } });
}

interface Telling {
  job: Job;
  run: WorkflowRun;
  settings: TestsConfig;
  isWhole: boolean;
  states: ScenarioStates;
  steps: Steps;
}

/** Sends what changed of a scenario. */
async function tell(result: ScenarioResult, telling: Telling): Promise<ToldScenario['became']> {
  const { job, run, settings, isWhole, states, steps } = telling;
  const fields = fieldsOf(result, settings);
  if (!fields) return 'all skipped';
  if (result.failed === 0 && !isWhole) return 'not whole';
  const [scenario, place] = [String(result.id), placeOf(run)];
  for (;;) {
    const next = await states.next(scenario, place, fields);
    if (next.does === 'wait') return { until: next.until };
    if (next.does === 'nothing') return next.why;
    const update = states.update(scenario, place, fields);
    try {
      await steps.set(
        `scenario ${scenario} ${next.times + 1}`,
        updateTestScenario,
        { scenario_id: result.id, ...fields },
        {
          leaves: () => update.leaves((job.lease?.until ?? run.endedAt) + LATE_AFTER_RUN_MS),
          refused: () => update.ended('refused'),
        },
      );
    } catch (error) {
      if (error instanceof Refused && [400, 404, 422].includes(error.refusal.status ?? 0)) return 'refused';
      throw error;
    }
    await update.ended('accepted');
  }
}

/** @returns undefined for a scenario that was not tested */
function fieldsOf({ passed, failed, coverage }: ScenarioResult, settings: TestsConfig): ScenarioFields | undefined {
  if (passed + failed === 0) return undefined;
  return {
    status: failed > 0 ? settings.status.failed : settings.status.passed,
    ...(settings.coverage && typeof coverage === 'number' && { coverage_percentage: coverage }),
  };
}
