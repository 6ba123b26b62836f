import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

/** A run of a workflow. */
export const runRef = z.object({ id: z.int(), number: z.int(), url: z.string() });

const failingTest = z.object({
  kind: z.enum(['test case', 'test step']),
  id: z.union([z.string(), z.number()]),
  /** The name of a test that failed. */
  title: z.string(),
  /** The first and the last run in which it failed. */
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

/** Test cases that failed in two runs in a row. */
export const failingTestsJobs = defineJobs('failing-tests-to-defect', input);
