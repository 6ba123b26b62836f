import { boolean, date, person, priority, project, text } from './arguments.ts';
import { tool } from './tool.ts';

export const tasks = [
  tool({
    name: 'find_tasks',
    title: 'Find tasks',
    description: 'Tasks of the projects that you can see, at most 50.',
    scope: 'mcp:tasks.read',
    kind: 'reads',
    required: {},
    optional: { project, containing: text.meta({ description: 'Text in the title' }), mine: boolean },
    run({ project, containing = '', mine = false }, actor) {
      const wanted = containing.toLowerCase();
      const found = actor
        .visible(actor.store.data.tasks)
        .filter(
          (candidate) =>
            (project === undefined || candidate.project_id === project) &&
            candidate.title.toLowerCase().includes(wanted) &&
            (!mine || candidate.assigned_to === actor.caller.user_id),
        );
      return {
        tasks: found.slice(0, 50).map(({ task_id, project_id, title, status, due_date }) => ({
          task: task_id,
          project: project_id,
          title,
          status,
          due_date,
        })),
      };
    },
  }),
  tool({
    name: 'create_task',
    title: 'Create a task',
    description: 'Creates a task in a project.',
    scope: 'mcp:tasks.write',
    kind: 'creates',
    required: { project, title: text },
    optional: { description: text, priority, due: date, assignee: person },
    run({ project, due, assignee, ...fields }, actor) {
      const { project_id } = actor.project(project);
      return {
        task: actor.carryOut('/tasks/create', { project_id, ...fields, due_date: due, assigned_to: assignee }),
      };
    },
  }),
];
