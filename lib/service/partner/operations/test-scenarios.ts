import * as z from 'zod';
import { changes, creates, id, operation, untyped, uuid } from '../operation.ts';

/** A value of any other type counts as missing. */
const newId = id.nullish().catch(null);

/** The fields are documented, but neither their types nor which are required (docs/partner-api.md#payload-types). */
const fields = {
  name: untyped,
  description: untyped,
  type: untyped,
  coverage_percentage: untyped,
  status: untyped,
};

/**
 * Assumed: the answer calls the id `scenario_id`, the name that `test-scenarios/update` takes. No operation that lists
 * scenarios is shown, so a created scenario cannot be found again.
 */
export const createTestScenario = operation({
  name: 'test-scenarios/create',
  evidence: 'documented',
  ...creates,
  payload: z.strictObject({ project_id: uuid.optional(), ...fields, test_strategy_id: id.nullish() }),
  data: z.looseObject({ scenario_id: newId }),
  createdId: 'scenario_id',
});

/** Assumed: `scenario_id` is required, because without it the call names no scenario. */
export const updateTestScenario = operation({
  name: 'test-scenarios/update',
  evidence: 'documented',
  ...changes,
  payload: z.strictObject({ scenario_id: id, ...fields }),
});

/**
 * Appends the step at the end of its test case. Its fields are documented, but neither their types nor which are
 * required. Assumed: the answer calls the id `step_id`, the name that `test-steps/delete` takes. No operation that lists
 * steps is shown.
 */
export const createTestStep = operation({
  name: 'test-steps/create',
  evidence: 'documented',
  ...creates,
  payload: z.strictObject({
    test_case_id: id.optional(),
    name: untyped,
    description: untyped,
    expected_result: untyped,
    outcome: untyped,
    status: untyped,
  }),
  data: z.looseObject({ step_id: newId }),
  createdId: 'step_id',
});

/**
 * Deletes or archives a step; what the values of `hard_delete` do is not shown. Assumed: `step_id` is required, because
 * without it the call names no step.
 */
export const deleteTestStep = operation({
  name: 'test-steps/delete',
  evidence: 'documented',
  ...changes,
  payload: z.strictObject({ test_case_id: id.optional(), step_id: id, hard_delete: untyped }),
});
