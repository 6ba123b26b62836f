import { item, task } from './arguments.ts';
import { tool } from './tool.ts';

export const checklists = [
  tool({
    name: 'read_checklists',
    title: 'Read the checklists of a task',
    description: 'The checklist groups of a task in their order, with their items.',
    scope: 'mcp:checklists.read',
    kind: 'reads',
    required: { task },
    optional: {},
    run({ task }, actor) {
      const { task_id } = actor.task(task);
      const { checklistGroups, checklistItems } = actor.store.data;
      const groups = checklistGroups
        .filter(({ work_item_id }) => work_item_id === task_id)
        .toSorted((a, b) => a.group_order - b.group_order);
      return {
        groups: groups.map(({ group_id, name }) => ({
          group: group_id,
          name,
          items: checklistItems
            .filter((candidate) => candidate.group_id === group_id)
            .map(({ item_id, name, is_completed }) => ({ item: item_id, name, done: is_completed })),
        })),
      };
    },
  }),
  tool({
    name: 'complete_checklist_items',
    title: 'Complete checklist items',
    description: 'Marks items as done, or as not done.',
    scope: 'mcp:checklists.write',
    kind: 'changes',
    required: { items: { type: 'array', items: item, minItems: 1 }, done: { type: 'boolean' } },
    optional: {},
    run({ items, done }, actor) {
      const found = items.map((id) => actor.checklistItem(id));
      return {
        items: found.map(({ item_id }) =>
          actor.carryOut('/work-items/checklist/items/complete', { item_id, is_completed: done }),
        ),
      };
    },
  }),
  tool({
    name: 'delete_checklist_item',
    title: 'Delete a checklist item',
    description: 'Deletes an item for good.',
    scope: 'mcp:checklists.write',
    kind: 'destroys',
    required: { item },
    optional: {},
    run({ item }, actor) {
      const { item_id } = actor.checklistItem(item);
      actor.store.remove('checklistItems', item_id);
      return { deleted: item_id };
    },
  }),
];
