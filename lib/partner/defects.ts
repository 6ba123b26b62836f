import * as z from 'zod';
import { id, maybe, openData, operation } from './operation.ts';

const fields = {
  title: z.string().optional(),
  description: z.string().optional(),
  type: z.string().optional(),
  priority: z.string().optional(),
  severity: z.string().optional(),
};

const defect = z.looseObject({ defect_id: id, title: maybe(z.string()), description: maybe(z.string()) });

/** Path and fields are assumed, by analogy with `defects/update` and `test-scenarios/create`. */
export const createDefect = operation({
  name: 'defects/create',
  evidence: 'assumed',
  effect: 'create',
  success: 201,
  payload: z.strictObject({ project_id: z.string().min(1), ...fields, title: z.string().min(1) }),
  data: defect,
  createdId: 'defect_id',
  found: { field: 'description', list: 'defects/list', scope: ['project_id'], pageSize: 'per_page' },
});

/** Path and fields are assumed, by analogy with `tasks/list` and `projects/search`. */
export const listDefects = operation({
  name: 'defects/list',
  evidence: 'assumed',
  effect: 'read',
  success: 200,
  payload: z.strictObject({
    project_id: z.string().optional(),
    page: z.int().optional(),
    per_page: z.int().optional(),
  }),
  data: z.array(defect),
});

export const updateDefect = operation({
  name: 'defects/update',
  evidence: 'documented',
  effect: 'repeatable',
  success: 200,
  payload: z.strictObject({ defect_id: id, ...fields }),
  data: openData,
});

const targets = { test_case_id: id.optional(), test_step_id: id.optional(), task_id: id.optional() };

export const linkDefect = operation({
  name: 'defects/link',
  evidence: 'documented',
  effect: 'repeatable',
  success: 200,
  payload: z
    .strictObject({ defect_id: id, ...targets })
    .refine(
      ({ test_case_id, test_step_id, task_id }) => (test_case_id ?? test_step_id ?? task_id) !== undefined,
      'at least one of test_case_id, test_step_id and task_id is required',
    ),
  data: openData,
});
