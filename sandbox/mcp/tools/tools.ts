import * as z from 'zod';
import { boolean, date, hours, item, oneOf, priority, project, task, text } from './arguments.ts';
import { type Tool, tool } from './tool.ts';

const severity = oneOf(['minor', 'major', 'critical']);

/** The tools that the relay's commands use. */
export const tools: readonly Tool[] = [
  tool({
    name: 'list_projects',
    title: 'List projects',
    description: 'The projects of the workspace that you can see.',
    scope: 'mcp:projects.read',
    kind: 'reads',
    optional: { containing: text.meta({ description: 'Only those with this text in their name' }) },
    run({ containing = '' }, actor) {
      const wanted = containing.toLowerCase();
      const found = actor.projects().filter((candidate) => candidate.name.toLowerCase().includes(wanted));
      return {
        projects: found.map(({ project_id, name, status, end_date }) => ({
          project: project_id,
          name,
          status,
          end_date,
        })),
      };
    },
  }),
  tool({
    name: 'find_tasks',
    title: 'Find tasks',
    description: 'Tasks of the projects that you can see, at most 50.',
    scope: 'mcp:tasks.read',
    kind: 'reads',
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
    name: 'list_time',
    title: 'List time entries',
    description: 'Your own time entries, the newest first, at most 50.',
    scope: 'mcp:timelogs.read',
    kind: 'reads',
    optional: { task, from: date, to: date },
    run({ task, from, to }, actor) {
      const found = actor
        .visible(actor.store.data.timelogs)
        .filter(
          (timelog) =>
            timelog.user_id === actor.caller.user_id &&
            (task === undefined || timelog.task_id === task) &&
            (from === undefined || timelog.date >= from) &&
            (to === undefined || timelog.date <= to),
        );
      return {
        entries: found
          .toReversed()
          .slice(0, 50)
          .map(({ timelog_id, task_id, date, hours, note }) => ({
            entry: timelog_id,
            task: task_id,
            day: date,
            hours,
            comment: note,
          })),
      };
    },
  }),
  tool({
    name: 'log_time',
    title: 'Log time',
    description: 'Logs your own time on a task; today (UTC) unless a day is given.',
    scope: 'mcp:timelogs.write',
    kind: 'creates',
    required: { task, hours },
    optional: { day: date, comment: text },
    run({ task, hours, day, comment }, actor) {
      const { task_id } = actor.task(task);
      const { user_id } = actor.caller;
      return {
        entry: actor.carryOut('/timelogs/create', { task_id, user_id, date: day ?? actor.today, hours, note: comment }),
      };
    },
  }),
  tool({
    name: 'report_defect',
    title: 'Report a defect',
    description: 'Creates a defect in a project.',
    scope: 'mcp:tests.write',
    kind: 'creates',
    required: { project, title: text },
    optional: { description: text, priority, severity },
    run({ project, ...fields }, actor) {
      const { project_id } = actor.project(project);
      return { defect: actor.carryOut('/defects/create', { project_id, ...fields }) };
    },
  }),
  tool({
    name: 'complete_checklist_items',
    title: 'Complete checklist items',
    description: 'Marks items as done, or as not done.',
    scope: 'mcp:checklists.write',
    kind: 'changes',
    required: {
      items: z.array(item, 'must be a list').min(1, 'must have at least 1 entries'),
      done: boolean,
    },
    run({ items, done }, actor) {
      const found = items.map((id) => actor.checklistItem(id));
      return {
        items: found.map(({ item_id }) =>
          actor.carryOut('/work-items/checklist/items/complete', { item_id, is_completed: done }),
        ),
      };
    },
  }),
];
