import { firstWorkspaceId } from '../../seed.ts';
import { date, priority, text } from './arguments.ts';
import { tool } from './tool.ts';

export const projects = [
  tool({
    name: 'list_projects',
    title: 'List projects',
    description: 'The projects of the workspace that you can see.',
    scope: 'mcp:projects.read',
    kind: 'reads',
    required: {},
    optional: { containing: { ...text, description: 'Only those with this text in their name' } },
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
    name: 'create_project',
    title: 'Create a project',
    description: 'Creates a project in the workspace.',
    scope: 'mcp:projects.write',
    kind: 'creates',
    required: { name: text },
    optional: { description: text, priority, starts: date, ends: date },
    run({ starts, ends, ...fields }, actor) {
      const created = actor.carryOut('/projects/create', { ...fields, start_date: starts, end_date: ends });
      const { projects } = actor.store.data;
      const record = projects.at(-1);
      const workspace_id = actor.caller.workspace?.workspace_id ?? firstWorkspaceId;
      if (record) actor.store.put('projects', { ...record, workspace_id });
      return { project: created };
    },
  }),
];
