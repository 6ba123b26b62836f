import { findRepository } from '../../config/settings.ts';
import { NeedsOperator, Refused } from '../../engine/record/interruption.ts';
import { createDefect, linkDefect } from '../../service/partner/operations/defects.ts';
import { counted } from '../../text.ts';
import { fittingTitle, withFooter } from '../described.ts';
import { defineRun } from '../our-automation.ts';
import { relateDefect, TARGET_FIELDS } from '../relate/relate-defect.ts';
import { type FailingInput, failingTestsJobs } from './jobs.ts';

/** Creates one defect for the tests of a job. If the job has a single test case, links the defect to it. */
export const run = defineRun(failingTestsJobs, async (input, steps, context) => {
  const { job } = context;
  const settings = findRepository(context.config, input.repository)?.tests?.defects;
  if (!settings) {
    throw new NeedsOperator(
      `tests.defects of ${input.repository} is missing in relay.config.ts; add it, or discard the job`,
    );
  }
  const { projectId: project_id, ...fields } = settings;
  const marker = await context.markers.of('defect', job.id);
  const payload = { project_id, title: titleOf(input), description: descriptionOf(input, marker), ...fields };
  const { id } = await steps.create('create-defect', createDefect, payload, { marker });
  const [only, ...others] = input.tests;
  if (!only || others.length > 0) return `created defect ${id} for ${counted(input.tests.length, 'test case')}`;
  const target = { ...only, id: await steps.idFrom(linkDefect, TARGET_FIELDS[only.kind], String(only.id)) };
  const linked = await relateDefect({ connection: job.connection, id }, target, { ...context, steps }).catch(notThere);
  return `created defect ${id}, ${linked ? 'linked to' : 'but the service does not link it to'} ${only.kind} ${only.id}`;
});

/** The service does not know the test case. The defect still exists. */
function notThere(error: unknown): undefined {
  if (error instanceof Refused && [400, 404, 422].includes(error.refusal.status ?? 0)) return undefined;
  throw error;
}

function titleOf({ tests: [only, ...others], workflow, branch }: FailingInput): string {
  const one = `Test fails: ${only?.title}`;
  return fittingTitle(others.length > 0 ? `${others.length + 1} test cases fail in ${workflow} on ${branch}` : one);
}

function descriptionOf({ repository, workflow, branch, tests }: FailingInput, marker: string): string {
  const lines = tests.map(
    ({ kind, id, title, first, last }) =>
      `- ${kind} ${id}: ${title}\n  first failing run: ${first.number}, ${first.url}\n  last failing run: ${last.number}, ${last.url}`,
  );
  const where = `${counted(tests.length, 'test case')} failed in two runs in a row of ${workflow} in ${repository}, on ${branch}.`;
  const footer = `The last failing run is the last one before this defect was created. When the tests pass again, close this defect yourself: Partner Relay does not.\n${marker}`;
  return withFooter(`${where}\n\n${lines.join('\n')}`, footer);
}
