import { randomUUID } from 'node:crypto';
import type { Defect } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find, type Store } from '../store.ts';
import { count, id, name, operation, paginate, text, uuid } from './operation.ts';

const described = { description: text, type: text, priority: text, severity: text } as const;

export const defects = [
  operation({
    path: '/defects/create',
    evidence: 'assumed',
    scope: 'defects.write',
    success: 201,
    invalid: 400,
    required: { project_id: uuid, title: name },
    optional: described,
    run(payload, store, stamp, actorId) {
      if (!find(store.data.projects, 'project_id', payload.project_id)) refuse(400, 'Invalid reference: project_id');
      const defect: Defect = {
        defect_id: randomUUID(),
        description: '',
        type: '',
        priority: 'medium',
        severity: 'minor',
        status: 'open',
        test_case_id: null,
        test_step_id: null,
        task_id: null,
        ...payload,
        created_by: actorId,
        dt_created: stamp,
        dt_updated: stamp,
      };
      return { data: store.put('defects', defect) };
    },
  }),
  operation({
    path: '/defects/list',
    evidence: 'assumed',
    scope: 'defects.read',
    invalid: 400,
    optional: { project_id: uuid, page: count, per_page: count },
    run({ project_id, ...pages }, { data }) {
      const found = data.defects.filter((defect) => project_id === undefined || defect.project_id === project_id);
      // Newest first (assumed).
      return paginate(found.toReversed(), pages);
    },
  }),
  operation({
    path: '/defects/update',
    evidence: 'documented',
    scope: 'defects.write',
    invalid: 400,
    required: { defect_id: id },
    optional: { title: name, ...described },
    run({ defect_id, ...changes }, store, stamp) {
      const defect = { ...existing(store, defect_id), ...changes, dt_updated: stamp };
      return { data: store.put('defects', defect) };
    },
  }),
  operation({
    path: '/defects/link',
    evidence: 'documented',
    scope: 'defects.write',
    invalid: 400,
    required: { defect_id: id },
    optional: { test_case_id: id, test_step_id: id, task_id: id },
    rule: ({ test_case_id, test_step_id, task_id }) =>
      (test_case_id ?? test_step_id ?? task_id) === undefined
        ? ['test_case_id', 'at least one of test_case_id, test_step_id and task_id is required']
        : null,
    run({ defect_id, test_case_id, test_step_id, task_id }, store, stamp) {
      const { data } = store;
      const defect = { ...existing(store, defect_id), dt_updated: stamp };
      if (test_case_id !== undefined) {
        const testCase = find(data.testCases, 'test_case_id', test_case_id);
        defect.test_case_id = testCase?.test_case_id ?? refuse(400, 'Invalid reference: test_case_id');
      }
      if (test_step_id !== undefined) {
        const step = find(data.testSteps, 'step_id', test_step_id);
        defect.test_step_id = step?.step_id ?? refuse(400, 'Invalid reference: test_step_id');
      }
      if (task_id !== undefined) {
        const task = find(data.tasks, 'task_id', task_id);
        defect.task_id = task?.task_id ?? refuse(400, 'Invalid reference: task_id');
      }
      return { data: store.put('defects', defect) };
    },
  }),
];

function existing({ data }: Store, defect_id: string | number): Defect {
  return find(data.defects, 'defect_id', defect_id) ?? refuse(404, 'Defect not found');
}
