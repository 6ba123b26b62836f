import { randomUUID } from 'node:crypto';
import type { Timelog } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find } from '../store.ts';
import { count, date, id, number, operation, paginate, text, uuid } from './operation.ts';

export const timelogs = [
  // /timelogs/search takes "same filters as /timelogs/list".
  ...['/timelogs/list', '/timelogs/search'].map((path) =>
    operation({
      path,
      evidence: 'fields assumed',
      scope: 'timelogs.read',
      optional: {
        project_id: uuid,
        task_id: id,
        user_id: id,
        date_from: date,
        date_to: date,
        page: count,
        per_page: count,
      },
      run({ project_id, task_id, user_id, date_from, date_to, ...pages }, { data }) {
        const found = data.timelogs.filter(
          (timelog) =>
            (project_id === undefined || timelog.project_id === project_id) &&
            (task_id === undefined || timelog.task_id === task_id) &&
            (user_id === undefined || timelog.user_id === user_id) &&
            (date_from === undefined || timelog.date >= date_from) &&
            (date_to === undefined || timelog.date <= date_to),
        );
        return paginate(found, pages);
      },
    }),
  ),
  operation({
    path: '/timelogs/detail',
    evidence: 'fields assumed',
    scope: 'timelogs.read',
    required: { timelog_id: id },
    run: ({ timelog_id }, { data }) => ({
      data: find(data.timelogs, 'timelog_id', timelog_id) ?? refuse(422, 'Time entry not found'),
    }),
  }),
  operation({
    path: '/timelogs/create',
    evidence: 'assumed',
    scope: 'timelogs.write',
    success: 201,
    required: { task_id: id, user_id: id, date: date, hours: number },
    optional: { note: text, description: text },
    // Assumed, like everything about this operation.
    rule: ({ hours }) => (hours > 0 && hours <= 24 ? null : ['hours', 'must be more than 0 and at most 24']),
    run({ task_id, user_id, date, hours, note, description }, store, stamp) {
      const task = find(store.data.tasks, 'task_id', task_id) ?? refuse(422, 'Task not found');
      const user = find(store.data.users, 'user_id', user_id) ?? refuse(422, 'User not found');
      const timelog: Timelog = {
        timelog_id: randomUUID(),
        project_id: task.project_id,
        task_id: task.task_id,
        user_id: user.user_id,
        date,
        hours,
        note: note ?? description ?? '',
        description: description ?? note ?? '',
        dt_created: stamp,
      };
      return { data: store.put('timelogs', timelog) };
    },
  }),
];
