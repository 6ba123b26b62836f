import * as z from 'zod';
import { changes, id, operation } from '../operation.ts';

/** The values of `work_item_type` are not shown. */
export const reorderChecklistGroups = operation({
  name: 'work-items/checklist/groups/reorder',
  evidence: 'documented',
  ...changes,
  payload: z.strictObject({ work_item_type: id, work_item_id: id, group_ids: z.array(z.int()) }),
});

/**
 * Completes or reopens a checklist item. Without `is_completed` the service toggles the item. The relay requires it,
 * because a toggle that is sent twice undoes itself.
 */
export const completeChecklistItem = operation({
  name: 'work-items/checklist/items/complete',
  evidence: 'documented',
  ...changes,
  payload: z.strictObject({ item_id: id, is_completed: z.boolean() }),
});
