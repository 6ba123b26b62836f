import { NotDone, Refused } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { completeChecklistItem as operation } from '../partner/work-item-checklists.ts';
import type { Automation } from './automation.ts';

export const COMPLETE_CHECKLIST_ITEM = 'complete-checklist-item';

/** What a job of this automation knows. */
export interface ChecklistItems {
  items: string[];
  /** Explicit, so that it may be said twice. */
  completed: boolean;
}

/** Completes or reopens checklist items, each on its own: what is refused for one does not keep the others from it. */
export const completeChecklistItem: Automation = {
  name: COMPLETE_CHECKLIST_ITEM,
  async run(job, steps) {
    const { items, completed } = job.input as unknown as ChecklistItems;
    const done: string[] = [];
    const refused: string[] = [];
    for (const item of items) {
      const why = await set(item, completed, steps);
      if (why === undefined) done.push(item);
      else refused.push(`${item}: ${why}`);
    }
    const verb = completed ? 'completed' : 'reopened';
    const reasons = refused.map((reason) => `Checklist item ${reason}`).join('. ');
    if (done.length === 0) throw new NotDone(`${reasons}. Nothing was ${verb}.`);
    const text = `${verb} checklist item${done.length > 1 ? 's' : ''} ${enumerated(done)}`;
    return refused.length === 0 ? text : `${text}, but not all. ${reasons}.`;
  },
};

/** @returns why the service refuses it */
async function set(item: string, completed: boolean, steps: Steps): Promise<string | undefined> {
  const payload = { item_id: idFromText(item), is_completed: completed };
  try {
    await steps.call(`${completed ? 'complete' : 'reopen'} ${item}`, operation, payload, () => null);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // Interface document, Partner API statuses: what they mean for this operation.
    if (error.refusal.status === 404) return 'there is no such item';
    if (error.refusal.status === 403) return "the relay's key may not manage this checklist";
    return 'the service does not take this id';
  }
}

function enumerated(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
