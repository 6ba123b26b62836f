import * as z from 'zod';
import { id, openData, operation, untyped, uuid } from './operation.ts';

/** Documented without types, and without which of them are required (docs/partner-api.md#payload-types). */
const fields = {
  name: untyped,
  description: untyped,
  type: untyped,
  coverage_percentage: untyped,
  status: untyped,
};

/** No operation that lists scenarios is shown, so there is nothing to find one by. */
export const createTestScenario = operation({
  name: 'test-scenarios/create',
  evidence: 'documented',
  effect: 'create',
  success: 201,
  payload: z.strictObject({ project_id: uuid.optional(), ...fields, test_strategy_id: id.nullish() }),
  data: openData,
});

/** That `scenario_id` is required is assumed: without it, the call names no scenario. */
export const updateTestScenario = operation({
  name: 'test-scenarios/update',
  evidence: 'documented',
  effect: 'repeatable',
  success: 200,
  payload: z.strictObject({ scenario_id: id, ...fields }),
  data: openData,
});
