import { findRepository } from '../../config/find-repository.ts';
import { NeedsOperator, Refused } from '../../engine/record/interruption.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { createDefect } from '../../service/partner/operations/defects.ts';
import { counted, cutToBytes, cutToLength } from '../../text.ts';
import type { Context } from '../context.ts';
import { relateDefect } from '../relate/relate-defect.ts';
import { type FailingInput, failingTestsJobs } from './draft.ts';

const MAX_TITLE_LENGTH = 255;
/** The same limit as in create-defect. */
const MAX_DESCRIPTION_BYTES = 32_768;

/** Creates one defect for the tests of a job, and links it to their test case if it is one. */
export function failingTestsToDefect(context: Context): Automation {
  const { config, markers } = context;
  return defineAutomation(failingTestsJobs, async (input, job, steps) => {
    const settings = findRepository(config, input.repository)?.tests?.defects;
    if (!settings && !steps.isDone(CREATE_STEP)) {
      throw new NeedsOperator(
        `relay.config.ts creates no defects for the tests of ${input.repository}; discard the job`,
      );
    }
    const { projectId, ...fields } = settings ?? {};
    const marker = await markers.of('defect', job.id);
    const payload = {
      project_id: projectId,
      title: titleOf(input),
      description: descriptionOf(input, marker),
      ...fields,
    };
    const { id } = await steps.create(CREATE_STEP, createDefect, payload, { marker });
    const [only, ...others] = input.tests;
    if (!only || others.length > 0) return `created defect ${id} for ${counted(input.tests.length, 'test case')}`;
    const linked = await relateDefect({ connection: job.connection, id }, only, { ...context, job, steps }).catch(
      notThere,
    );
    return `created defect ${id}, ${linked ? 'linked to' : 'but the service does not link it to'} ${only.kind} ${only.id}`;
  });
}

const CREATE_STEP = 'create-defect';

/** The service does not know the test case. The defect is there all the same. */
function notThere(error: unknown): undefined {
  if (error instanceof Refused && [400, 404, 422].includes(error.refusal.status ?? 0)) return undefined;
  throw error;
}

function titleOf({ tests, workflow, branch }: FailingInput): string {
  const [only] = tests;
  const what =
    tests.length === 1 ? `Test fails: ${only?.title}` : `${tests.length} test cases fail in ${workflow} on ${branch}`;
  return cutToLength(what, MAX_TITLE_LENGTH, '…');
}

function descriptionOf({ repository, workflow, branch, tests }: FailingInput, marker: string): string {
  const lines = tests.map(
    ({ kind, id, title, first, last }) =>
      `- ${kind} ${id}: ${title}\n  first failing run: ${first.number}, ${first.url}\n  last failing run: ${last.number}, ${last.url}`,
  );
  const where = `${counted(tests.length, 'test case')} failed in two runs in a row of ${workflow} in ${repository}, on ${branch}.`;
  const footer = `---\nThe last failing run is the last one before this defect was created. When the tests pass again, close this defect yourself: Partner Relay does not.\n${marker}`;
  const room = MAX_DESCRIPTION_BYTES - Buffer.byteLength(footer) - 2;
  return `${cutToBytes(`${where}\n\n${lines.join('\n')}`, room, '\n[Cut here.]')}\n\n${footer}`;
}
