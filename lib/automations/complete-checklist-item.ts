import type { Automation } from '../jobs/automation.ts';
import { NotDone, type Refused } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { completeChecklistItem as operation } from '../partner/work-item-checklists.ts';

export const COMPLETE_CHECKLIST_ITEM = 'complete-checklist-item';

/** What a job of this automation knows. */
export interface ChecklistItems {
  items: string[];
  /** Explicit, so that it may be said twice. */
  completed: boolean;
  /** How many more were named than can be done at once. */
  leftOut?: number;
}

/** Completes or reopens checklist items, each on its own: what is refused for one does not keep the others from it. */
export const completeChecklistItem: Automation = {
  name: COMPLETE_CHECKLIST_ITEM,
  async run(job, steps) {
    const { items, completed, leftOut = 0 } = job.input as unknown as ChecklistItems;
    const done: string[] = [];
    const refused: string[] = [];
    for (const item of items) {
      const reason = await set(item, completed, steps);
      if (reason === null) done.push(item);
      else refused.push(`${item}: ${reason}`);
    }
    const verb = completed ? 'completed' : 'reopened';
    if (leftOut > 0) refused.push(`no ${items.length + 1} and more: ${items.length} at once are the most`);
    const reasons = refused.map((reason) => `Checklist item ${reason}`).join('. ');
    if (done.length === 0) throw new NotDone(`${reasons}. Nothing was ${verb}.`);
    const text = `${verb} checklist item${done.length > 1 ? 's' : ''} ${enumerated(done)}`;
    return refused.length === 0 ? text : `${text}, but not all. ${reasons}.`;
  },
};

/** @returns why the service refuses it, or null */
function set(item: string, completed: boolean, steps: Steps): Promise<string | null> {
  const payload = { item_id: idFromText(item), is_completed: completed };
  return steps.call(`${completed ? 'complete' : 'reopen'} ${item}`, operation, payload, () => null, why);
}

/** Interface document, Partner API statuses: what they mean for this operation. */
function why({ refusal }: Refused): string {
  if (refusal.status === 404) return 'there is no such item';
  if (refusal.status === 403) return "the relay's key may not manage this checklist";
  return 'the service does not take this id';
}

/** `12, 13 and 14` */
export function enumerated(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
