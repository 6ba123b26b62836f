import type { ChecklistGroup } from '../records.ts';
import { refuse } from '../refusal.ts';
import { find } from '../store.ts';
import { boolean, id, integers, name, operation } from './operation.ts';

/** docs/partner-api.md#statuses has neither 400 nor 422 for checklist operations. Assumed: 422. */
export const checklists = [
  operation({
    path: '/work-items/checklist/groups/reorder',
    evidence: 'documented',
    scope: 'checklists.write',
    required: { work_item_type: name, work_item_id: id, group_ids: integers },
    run({ work_item_type, work_item_id, group_ids }, store) {
      const groups = store.data.checklistGroups.filter(
        (group) => group.work_item_type === work_item_type && group.work_item_id === work_item_id,
      );
      // The values of work_item_type are not shown. Here, only tasks have checklists.
      if (work_item_type !== 'task' || !find(store.data.tasks, 'task_id', work_item_id)) {
        refuse(404, 'Work item not found');
      }
      groups.forEach(refuseUnmanageable);
      const ordered = group_ids.flatMap((id) => find(groups, 'group_id', id) ?? []);
      // Assumed: the order must name each group of the work item once.
      if (ordered.length !== groups.length || new Set(group_ids).size !== groups.length) {
        refuse(422, "group_ids must name each of the work item's groups once");
      }
      const data = ordered.map((group, index) => ({ ...group, group_order: index + 1 }));
      for (const group of data) store.put('checklistGroups', group);
      return { data };
    },
  }),
  operation({
    path: '/work-items/checklist/items/complete',
    evidence: 'documented',
    scope: 'checklists.write',
    required: { item_id: id },
    optional: { is_completed: boolean },
    run({ item_id, is_completed }, store, stamp, actorId) {
      const before = find(store.data.checklistItems, 'item_id', item_id) ?? refuse(404, 'Checklist item not found');
      const group = find(store.data.checklistGroups, 'group_id', before.group_id);
      if (group) refuseUnmanageable(group);
      const completed = is_completed ?? !before.is_completed;
      const item = {
        ...before,
        is_completed: completed,
        // "Shown moves": completion sets both. Assumed: reopening clears them.
        completed_by: completed ? actorId : null,
        completed_at: completed ? stamp : null,
      };
      return { data: store.put('checklistItems', item) };
    },
  }),
];

function refuseUnmanageable({ can_manage }: ChecklistGroup): void {
  if (!can_manage) refuse(403, 'Not allowed to manage this checklist');
}
