import * as z from 'zod/mini';
import type { JobDraft } from '../../engine/record/job.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { counted } from '../../text.ts';

const id = z.union([z.string(), z.number()]);
const runRef = z.object({ number: z.int(), url: z.string() });
const failingTest = z.object({
  kind: z.enum(['test case', 'test step']),
  id,
  /** The name of a test that failed. */
  title: z.string(),
  /** The first and the last run in which it failed. */
  first: runRef,
  last: runRef,
});

/** Test cases that failed in two runs in a row. */
const input = z.object({
  repository: z.string(),
  workflow: z.string(),
  branch: z.string(),
  tests: z.array(failingTest),
});
export type FailingInput = z.output<typeof input>;

export const failingTestsJobs = defineJobs('failing-tests-to-defect', input);

/** @param happened since which run the tests fail, so that a defect is made once until they pass */
export function failingTestsDraft(
  input: FailingInput,
  happened: readonly (string | number)[],
  rest: Pick<JobDraft, 'connection' | 'cause'>,
): JobDraft {
  const { repository, workflow, tests } = input;
  const [only, ...others] = tests;
  const what = only && others.length === 0 ? `${only.kind} ${only.id}` : counted(tests.length, 'test case');
  return failingTestsJobs.draft({
    ...rest,
    happened: [repository, workflow, ...happened],
    lane: 'background',
    entity: `failing-${repository}`,
    summary: `${repository}: a defect for ${what}, failing twice in ${workflow}`,
    input: {
      repository,
      workflow,
      branch: input.branch,
      tests: tests.map(({ kind, id, title, first, last }) => ({
        kind,
        id,
        title,
        first: { number: first.number, url: first.url },
        last: { number: last.number, url: last.url },
      })),
    },
  });
}
