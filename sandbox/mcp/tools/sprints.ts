import { randomUUID } from 'node:crypto';
import type { Sprint } from '../../records.ts';
import { refuse } from '../../refusal.ts';
import { find } from '../../store.ts';
import type { Actor } from './actor.ts';
import { date, name, project, task, text } from './arguments.ts';
import { tool } from './tool.ts';

const sprint = { ...name, description: 'Identifier of a sprint' } as const;

function visibleSprint(actor: Actor, sprint_id: string): Sprint {
  return find(actor.visible(actor.store.data.sprints), 'sprint_id', sprint_id) ?? refuse(404, 'Sprint not found');
}

export const sprints = [
  tool({
    name: 'list_sprints',
    title: 'List sprints',
    description: 'The sprints of the projects that you can see, with the tasks that are planned in them.',
    scope: 'mcp:sprints.read',
    kind: 'reads',
    required: {},
    optional: { project },
    run({ project }, actor) {
      const found = actor
        .visible(actor.store.data.sprints)
        .filter(({ project_id }) => project === undefined || project_id === project);
      return { sprints: found.map(({ sprint_id, ...rest }) => ({ sprint: sprint_id, ...rest })) };
    },
  }),
  tool({
    name: 'create_sprint',
    title: 'Create a sprint',
    description: 'Plans a sprint in a project.',
    scope: 'mcp:sprints.write',
    kind: 'creates',
    required: { project, name },
    optional: { goal: text, starts: date, ends: date },
    run({ project, name, goal = '', starts = null, ends = null }, actor) {
      const { project_id } = actor.project(project);
      const created: Sprint = {
        sprint_id: randomUUID(),
        ...{ project_id, name, goal, status: 'planned', start_date: starts, end_date: ends, task_ids: [] },
      };
      actor.store.put('sprints', created);
      return { sprint: created };
    },
  }),
  tool({
    name: 'update_sprint',
    title: 'Change a sprint',
    description: 'Changes, starts or completes a sprint: the fields that are given, and no others.',
    scope: 'mcp:sprints.write',
    kind: 'changes',
    required: { sprint },
    optional: {
      ...{ name, goal: text, starts: date, ends: date },
      status: { type: 'string', enum: ['planned', 'active', 'completed'] },
    },
    run({ sprint, starts, ends, ...fields }, actor) {
      const before = visibleSprint(actor, sprint);
      const { name = before.name, goal = before.goal, status = before.status } = fields;
      const [start_date, end_date] = [starts ?? before.start_date, ends ?? before.end_date];
      const changed = { ...before, name, goal, status, start_date, end_date };
      actor.store.put('sprints', changed);
      return { sprint: changed };
    },
  }),
  tool({
    name: 'assign_to_sprint',
    title: 'Assign a task to a sprint',
    description: 'Plans a task in a sprint of its project.',
    scope: 'mcp:sprints.write',
    kind: 'changes',
    required: { sprint, task },
    optional: {},
    run({ sprint, task }, actor) {
      const before = visibleSprint(actor, sprint);
      const { task_id, project_id } = actor.task(task);
      if (project_id !== before.project_id) refuse(422, 'The task is of another project');
      const changed = { ...before, task_ids: [...new Set([...before.task_ids, task_id])] };
      actor.store.put('sprints', changed);
      return { sprint: changed };
    },
  }),
];
