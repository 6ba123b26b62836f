import { randomUUID } from 'node:crypto';
import type { Epic } from '../../records.ts';
import { refuse } from '../../refusal.ts';
import { find } from '../../store.ts';
import { name, project } from './arguments.ts';
import { tool } from './tool.ts';

export const epics = [
  tool({
    name: 'create_epic',
    title: 'Create an epic, feature, story or subtask',
    description: 'Creates an epic, feature, story or subtask in a project, below another one or a task.',
    scope: 'mcp:epics.write',
    kind: 'creates',
    required: { project, kind: { type: 'string', enum: ['epic', 'feature', 'story', 'subtask'] }, title: name },
    optional: { parent: { ...name, description: 'Identifier of what it is part of' } },
    run({ project, kind, title, parent }, actor) {
      const { project_id } = actor.project(project);
      const { epics, tasks } = actor.store.data;
      const isThere = (id: string) =>
        find(actor.visible(epics), 'epic_id', id) ?? find(actor.visible(tasks), 'task_id', id);
      if (parent !== undefined && !isThere(parent)) refuse(404, 'Parent not found');
      const { user_id } = actor.caller;
      const epic: Epic = {
        epic_id: randomUUID(),
        ...{ project_id, kind, title, parent_id: parent ?? null, created_by: user_id },
      };
      actor.store.put('epics', epic);
      return { epic };
    },
  }),
];
