import * as z from 'zod';
import { id, openData, operation } from './operation.ts';

/** Appends the step at the end of its test case. No operation that lists steps is shown. */
export const createTestStep = operation({
  name: 'test-steps/create',
  evidence: 'documented',
  effect: 'create',
  success: 201,
  payload: z.strictObject({
    test_case_id: id.optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    expected_result: z.string().optional(),
    outcome: z.string().optional(),
    status: z.string().optional(),
  }),
  data: openData,
});

/** Deletes or archives a step; what the values of `hard_delete` do is not shown. */
export const deleteTestStep = operation({
  name: 'test-steps/delete',
  evidence: 'documented',
  effect: 'repeatable',
  success: 200,
  payload: z.strictObject({ test_case_id: id.optional(), step_id: id, hard_delete: z.unknown().optional() }),
  data: openData,
});
