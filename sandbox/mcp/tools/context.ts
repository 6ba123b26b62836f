import { randomUUID } from 'node:crypto';
import type { SavedContext } from '../../records.ts';
import { name, project } from './arguments.ts';
import { tool } from './tool.ts';

export const context = [
  tool({
    name: 'read_context',
    title: 'Read saved context',
    description: 'What was saved about a project, or about the company and all projects that you can see.',
    scope: 'mcp:context.read',
    kind: 'reads',
    required: {},
    optional: { project },
    run({ project }, actor) {
      const visible = new Set(actor.projects().map(({ project_id }) => project_id));
      const found = actor.store.data.contexts.filter(
        ({ project_id }) =>
          (project === undefined || project_id === project) && (project_id === null || visible.has(project_id)),
      );
      return { contexts: found.map(({ project_id, text }) => ({ project: project_id, text })) };
    },
  }),
  tool({
    name: 'save_context',
    title: 'Save context',
    description: 'Saves a text about a project, or about the company.',
    scope: 'mcp:context.write',
    kind: 'creates',
    required: { text: name },
    optional: { project },
    run({ text, project }, actor) {
      const project_id = project === undefined ? null : actor.project(project).project_id;
      const context: SavedContext = {
        context_id: randomUUID(),
        ...{ project_id, text, saved_by: actor.caller.user_id },
      };
      actor.store.put('contexts', context);
      return { context };
    },
  }),
];
