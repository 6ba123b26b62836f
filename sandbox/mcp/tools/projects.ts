import { text } from './arguments.ts';
import { tool } from './tool.ts';

export const projects = [
  tool({
    name: 'list_projects',
    title: 'List projects',
    description: 'The projects of the workspace that you can see.',
    scope: 'mcp:projects.read',
    kind: 'reads',
    required: {},
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
];
