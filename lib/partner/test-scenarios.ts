import * as z from 'zod';
import { id, openData, operation } from './operation.ts';

const fields = {
  name: z.string().optional(),
  description: z.string().optional(),
  type: z.string().optional(),
  coverage_percentage: z.number().optional(),
  status: z.string().optional(),
};

/** No operation that lists scenarios is shown, so there is nothing to find one by. */
export const createTestScenario = operation({
  name: 'test-scenarios/create',
  evidence: 'documented',
  effect: 'create',
  success: 201,
  payload: z.strictObject({ project_id: z.uuid().optional(), ...fields, test_strategy_id: id.optional() }),
  data: openData,
});

export const updateTestScenario = operation({
  name: 'test-scenarios/update',
  evidence: 'documented',
  effect: 'repeatable',
  success: 200,
  payload: z.strictObject({ scenario_id: id, ...fields }),
  data: openData,
});
