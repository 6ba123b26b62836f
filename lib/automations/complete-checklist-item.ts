import * as z from 'zod/mini';
import { type ItemsCommand, readItems } from '../commands/checklist-items.ts';
import { type Automation, defineAutomation, defineJobs } from '../jobs/automation.ts';
import { NotDone, type Refused } from '../jobs/interruption.ts';
import type { Steps } from '../jobs/steps.ts';
import { idFromText } from '../partner/operation.ts';
import { completeChecklistItem as operation } from '../partner/work-item-checklists.ts';
import { eventOf, type Verb } from './verb.ts';

export const checklistItemJobs = defineJobs(
  'complete-checklist-item',
  z.object({
    items: z.array(z.string()),
    /** Not a toggle, so that it may be said twice. */
    completed: z.boolean(),
    /** How many more were named than can be done at once. */
    leftOut: z.optional(z.int()),
  }),
);

function itemsVerb(
  verb: ItemsCommand['verb'],
  shown: Pick<Verb<ItemsCommand>, 'usage' | 'does' | 'examples'>,
): Verb<ItemsCommand> {
  const print = ({ items }: ItemsCommand) => [verb, ...items].join(' ');
  return {
    ...shown,
    verb,
    read: (text) => readItems(verb, text),
    print,
    permission: 'done',
    inComments: 'completeChecklistItem',
    asksBeforeRepeating: true,
    job: (command, origin) =>
      checklistItemJobs.draft({
        ...eventOf(verb, print(command), origin),
        input: { items: command.items, completed: verb === 'done' },
      }),
  };
}

export const doneVerb = itemsVerb('done', {
  usage: 'done <item id> …',
  does: 'completes checklist items',
  examples: ['done 12 13', 'done 12', 'done #12, 13 and 14'],
});

export const undoVerb = itemsVerb('undo', {
  usage: 'undo <item id> …',
  does: 'reopens checklist items',
  examples: ['undo 12', 'undo 12 13'],
});

/** Completes or reopens checklist items, each on its own: a refused one does not keep the others from it. */
export function completeChecklistItem(): Automation {
  return defineAutomation(checklistItemJobs, async ({ items, completed, leftOut = 0 }, _job, steps) => {
    const done: string[] = [];
    const refused: string[] = [];
    for (const item of items) {
      const reason = await set(item, completed, steps);
      if (reason === null) done.push(item);
      else refused.push(`${item}: ${reason}`);
    }
    const what = completed ? 'completed' : 'reopened';
    if (leftOut > 0) refused.push(`no ${items.length + 1} and more: ${items.length} at once are the most`);
    const reasons = refused.map((reason) => `Checklist item ${reason}`).join('. ');
    if (done.length === 0) throw new NotDone(`${reasons}. Nothing was ${what}.`);
    const text = `${what} checklist item${done.length > 1 ? 's' : ''} ${enumerated(done)}`;
    return refused.length === 0 ? text : `${text}, but not all. ${reasons}.`;
  });
}

/** @returns why the service refuses it, or null */
function set(item: string, completed: boolean, steps: Steps): Promise<string | null> {
  const payload = { item_id: idFromText(item), is_completed: completed };
  return steps.call(`${completed ? 'complete' : 'reopen'} ${item}`, operation, payload, () => null, why);
}

/** What the statuses mean for this operation: docs/partner-api.md#statuses. */
function why({ refusal }: Refused): string {
  if (refusal.status === 404) return 'there is no such item';
  if (refusal.status === 403) return "the relay's key may not manage this checklist";
  return 'the service does not take this id';
}

/** `12, 13 and 14` */
export function enumerated(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
