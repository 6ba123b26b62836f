import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

export const runRef = z.object({ id: z.int(), number: z.int(), url: z.string() });

const failingTest = z.object({
  kind: z.enum(['test case', 'test step']),
  id: z.union([z.string(), z.number()]),
  /** The name of a failed test. */
  title: z.string(),
  /** The first and the last failed run. */
  first: runRef,
  last: runRef,
});
export type FailingTest = z.output<typeof failingTest>;

const input = z.object({
  repository: z.string(),
  workflow: z.string(),
  branch: z.string(),
  tests: z.array(failingTest),
});
export type FailingInput = z.output<typeof input>;

/** The input: test cases that failed in two runs in a row. */
export const failingTestsJobs = defineJobs('failing-tests-to-defect', input);
