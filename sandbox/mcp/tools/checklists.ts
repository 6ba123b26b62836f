import * as z from 'zod';
import { boolean, item } from './arguments.ts';
import { tool } from './tool.ts';

export const checklists = [
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
