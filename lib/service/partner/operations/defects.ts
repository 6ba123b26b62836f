import * as z from 'zod';
import { assumedText, changes, creates, id, lists, openData, operation, untyped } from '../operation.ts';

/** The fields are documented, but neither their types nor which are required (docs/partner-api.md#payload-types). */
const fields = { title: untyped, description: untyped, type: untyped, priority: untyped, severity: untyped };

/** Assumed: the answer calls the id `defect_id`, the name that `defects/update` takes. */
const defect = z.looseObject({ defect_id: id, title: assumedText, description: assumedText });

/** Path and fields are assumed, by analogy with `defects/update` and `test-scenarios/create`. */
export const createDefect = operation({
  name: 'defects/create',
  evidence: 'assumed',
  ...creates,
  payload: z.looseObject({ project_id: untyped, ...fields }),
  data: defect,
  createdId: 'defect_id',
  found: { field: 'description', list: 'defects/list', scope: ['project_id'] },
});

/** Path and fields are assumed, by analogy with `tasks/list` and `projects/search`. */
export const listDefects = operation({
  name: 'defects/list',
  evidence: 'assumed',
  ...lists,
  payload: z.looseObject({ project_id: untyped, page: untyped, per_page: untyped }),
  data: z.array(defect),
});

/** The fields are documented. Assumed: `defect_id` is required, because without it the call names no defect. */
export const updateDefect = operation({
  name: 'defects/update',
  evidence: 'documented',
  ...changes,
  payload: z.strictObject({ defect_id: id, ...fields }),
});

/** "At least one of" the targets is documented. Assumed: `defect_id` is required. */
const targets = { test_case_id: id.nullish(), test_step_id: id.nullish(), task_id: id.nullish() };

/** It is not shown whether a second link adds to the first or replaces it, nor what a repetition does. */
export const linkDefect = operation({
  name: 'defects/link',
  evidence: 'documented',
  effect: 'unknown',
  success: 200,
  payload: z
    .strictObject({ defect_id: id, ...targets })
    .refine(
      ({ test_case_id, test_step_id, task_id }) => (test_case_id ?? test_step_id ?? task_id) != null,
      'at least one of test_case_id, test_step_id and task_id is required',
    ),
  data: openData,
});
