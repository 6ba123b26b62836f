import type * as z from 'zod';
import type { Actor } from './actor.ts';
import { date, priority, project, task, text } from './arguments.ts';
import { type Tool, tool } from './tool.ts';

type Fields = Readonly<Record<string, z.ZodType>>;
type Given = Readonly<Record<string, unknown>>;

const inProject = (actor: Actor, given: unknown) => actor.project(String(given)).project_id;

/**
 * One tool for each scope that no command of the relay uses. If the sandbox has no records for a tool, it confirms the
 * call or returns an empty list.
 */
const others: readonly [
  scope: string,
  name: string,
  kind: Tool['kind'],
  required: Fields,
  optional: Fields,
  run: (args: Given, actor: Actor) => object,
][] = [
  [
    'mcp:projects.write',
    'create_project',
    'creates',
    { name: text },
    { description: text, priority },
    (args, actor) => ({ project: actor.carryOut('/projects/create', args) }),
  ],
  [
    'mcp:tasks.write',
    'create_task',
    'creates',
    { project, title: text },
    { description: text, priority, due_date: date },
    ({ project, ...args }, actor) => ({
      task: actor.carryOut('/tasks/create', { project_id: inProject(actor, project), ...args }),
    }),
  ],
  [
    'mcp:epics.write',
    'create_epic',
    'creates',
    { project, title: text },
    {},
    ({ project, title }, actor) => ({ epic: { project: inProject(actor, project), title } }),
  ],
  [
    'mcp:sprints.read',
    'list_sprints',
    'reads',
    { project },
    {},
    ({ project }, actor) => ({ project: inProject(actor, project), sprints: [] }),
  ],
  [
    'mcp:sprints.write',
    'create_sprint',
    'creates',
    { project, name: text },
    { start: date, end: date },
    ({ project, ...sprint }, actor) => ({ sprint: { project: inProject(actor, project), ...sprint } }),
  ],
  [
    'mcp:users.read',
    'list_people',
    'reads',
    {},
    {},
    (_, { store, caller }) => ({
      people: caller.workspace.members.map(({ user_id }) => store.data.users.find((user) => user.user_id === user_id)),
    }),
  ],
  [
    'mcp:tests.read',
    'list_test_cases',
    'reads',
    {},
    {},
    (_, actor) => ({ cases: actor.visible(actor.store.data.testCases) }),
  ],
  [
    'mcp:checklists.read',
    'list_checklist',
    'reads',
    { task },
    {},
    ({ task }, actor) => {
      const { task_id } = actor.task(String(task));
      return { groups: actor.store.data.checklistGroups.filter(({ work_item_id }) => work_item_id === task_id) };
    },
  ],
  [
    'mcp:context.read',
    'read_context',
    'reads',
    { project },
    {},
    ({ project }, actor) => ({ project: inProject(actor, project), context: '' }),
  ],
  [
    'mcp:context.write',
    'save_context',
    'changes',
    { project, context: text },
    {},
    ({ project, context }, actor) => ({ project: inProject(actor, project), context }),
  ],
  ['mcp:documents.read', 'search_documents', 'reads', { containing: text }, {}, () => ({ documents: [] })],
];

export const otherTools: readonly Tool[] = others.map(([scope, name, kind, required, optional, run]) => {
  const words = name.replaceAll('_', ' ');
  const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return tool({ scope, name, kind, required, optional, run, title, description: `${title}, as far as you can see.` });
});
