import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { Note } from '../../records.ts';
import { memberOf } from '../workspaces.ts';
import type { Actor } from './actor.ts';
import { project, task, text } from './arguments.ts';
import { type Tool, tool } from './tool.ts';

function row<const R extends Readonly<Record<string, z.ZodType>>>(
  scope: string,
  name: string,
  title: string,
  required: R,
  run: (args: { [K in keyof R]: z.output<R[K]> }, actor: Actor) => object,
): Tool {
  const kind = scope.endsWith('.write') ? 'creates' : 'reads';
  return tool<R>({ scope, name, title, description: `${title}.`, kind, required, run });
}

const read = (wanted: Note['kind']) => (_: object, actor: Actor) => ({
  found: actor.visible(actor.store.data.notes).filter(({ kind }) => kind === wanted),
});

const write = (kind: Note['kind']) => (args: { project: string; text: string }, actor: Actor) => {
  const { project_id } = actor.project(args.project);
  return { [kind]: actor.store.put('notes', { note_id: randomUUID(), project_id, kind, text: args.text }) };
};

/** One tool for each scope of the contract that the tools of the other files do not need. */
export const otherScopes: readonly Tool[] = [
  row('mcp:projects.write', 'create_project', 'Create a project', { name: text }, (fields, actor) => ({
    project: actor.carryOut('/projects/create', fields),
  })),
  row('mcp:epics.write', 'create_epic', 'Create an epic, as a task', { project, title: text }, (args, actor) => ({
    epic: actor.carryOut('/tasks/create', { project_id: actor.project(args.project).project_id, title: args.title }),
  })),
  row('mcp:sprints.read', 'list_sprints', 'List sprints', {}, read('sprint')),
  row('mcp:sprints.write', 'create_sprint', 'Create a sprint', { project, text }, write('sprint')),
  row('mcp:users.read', 'list_members', 'List members', {}, (_, { caller, store }) => ({
    members: store.data.users.filter(({ user_id }) => memberOf(caller.workspace, user_id)),
  })),
  row('mcp:tests.read', 'list_test_scenarios', 'List test scenarios', {}, (_, actor) => ({
    scenarios: actor.visible(actor.store.data.testScenarios),
  })),
  row('mcp:checklists.read', 'list_checklists', 'List the checklists of a task', { task }, (args, actor) => {
    const { task_id } = actor.task(args.task);
    return { groups: actor.store.data.checklistGroups.filter(({ work_item_id }) => work_item_id === task_id) };
  }),
  row('mcp:context.read', 'read_context', 'Read saved context', {}, read('context')),
  row('mcp:context.write', 'save_context', 'Save context', { project, text }, write('context')),
  row('mcp:documents.read', 'search_documents', 'Search documents', {}, read('document')),
];
