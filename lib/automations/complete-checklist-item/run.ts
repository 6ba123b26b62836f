import { callOf, type Fields, fieldsIn } from '../../config/template.ts';
import { AccountFirst, NotDone, PerhapsDone, Refused, RetryAt, StepFailed } from '../../engine/record/interruption.ts';
import type { JobSteps } from '../../engine/run/job-steps.ts';
import { placeOf, setNewest } from '../../engine/run/newest-wins.ts';
import { message, plainSection, sentence } from '../../platforms/slack/messages.ts';
import { completeChecklistItem as operation } from '../../service/partner/operations/work-item-checklists.ts';
import { enumerated } from '../../text.ts';
import type { Mine } from '../as-person.ts';
import { taskExists } from '../check-pull-request/task-exists.ts';
import { defineRun, type RunContext } from '../our-automation.ts';
import { checklistItemJobs } from './jobs.ts';

/** Completes or reopens each checklist item separately, so that one refused item does not stop the others. */
export const run = defineRun(checklistItemJobs, async ({ items, completed, leftOut = 0 }, steps, context) => {
  const { job, asPerson } = context;
  const mine = await asPerson(completed ? 'done' : 'undo', job.asked?.by, job, steps);
  const verb = completed ? 'complete' : 'reopen';
  const each = items.map((item) => ({ name: item, fields: { item }, its: [item] }));
  const takesAll = mine && fieldsIn(mine.uses.own.arguments).includes('items');
  const outcomes: ItemOutcome[] = [];
  let failed: StepFailed | undefined;
  for (const { name, fields, its } of takesAll ? [{ name: 'all', fields: { items }, its: items }] : each) {
    try {
      const outcome = await (mine
        ? asThem(mine, `${verb} ${name}`, fields)
        : withKey(`${verb} ${name}`, name, completed, steps, context));
      outcomes.push(...its.map((item) => ({ item, ...outcome })));
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      failed ??= error;
    }
  }
  // The other items are set, so the job can wait and return for the failed ones.
  if (failed) throw failed;
  const until = Math.max(0, ...outcomes.map(({ until = 0 }) => until));
  if (until > 0) {
    const why = 'an older request for the same checklist item may still arrive';
    throw new RetryAt(until, why, { releasesQueueGroup: true, waitsFor: 'late call' });
  }
  const [only] = outcomes;
  const isAlone = outcomes.length === 1 && job.asked?.by?.in === 'slack' && !mine;
  if (isAlone && only?.refused === NO_ITEM && (await isTask(only.item, steps, context))) {
    throw new NotDone(`Task ${only.item} is not a checklist item. The service shows the numbers of checklist items`);
  }
  const done = outcomes.filter(({ refused }) => refused === null).map(({ item }) => item);
  const refused = outcomes.flatMap(({ item, refused }) =>
    refused === null
      ? []
      : [refused === NO_ITEM ? `There is no checklist item ${item}` : `Checklist item ${item}: ${refused}`],
  );
  const what = completed ? 'completed' : 'reopened';
  if (leftOut > 0)
    refused.push(
      `Checklist item ${items.length + 1} and those after it were left out: the maximum is ${items.length} at once`,
    );
  const reasons = refused.join('. ');
  const link = outcomes.find((outcome) => outcome.link)?.link;
  const other = job.asked?.by ? '' : ' For another item, comment /done and its number.';
  const nothing = `${reasons}. Nothing was ${what}.${other}`;
  if (done.length === 0 && outcomes.some(({ isUnclear }) => isUnclear)) throw new PerhapsDone(`${reasons}.${other}`);
  if (done.length === 0) throw link ? new AccountFirst(nothing, link) : new NotDone(nothing);
  const which = `checklist item${done.length > 1 ? 's' : ''} ${enumerated(done)}`;
  const text = `${completed ? `completed ${which}` : `set ${which} to open`}${mine ? ' in your name' : ''}`;
  if (refused.length === 0) return text;
  const partly = `${text}. ${reasons}.${other}`;
  return { text: partly, blocks: message(plainSection(`:warning: ${sentence(partly)}`)).blocks, link };
});

/** The newest request for an item wins, even if an older one arrives later. */
async function withKey(
  step: string,
  item: string,
  completed: boolean,
  steps: JobSteps,
  context: RunContext,
): Promise<Outcome> {
  const { job } = context;
  const payload = { item_id: await steps.idFrom(operation, 'item_id', item), is_completed: completed };
  const setting = { kind: 'checklist item', id: String(payload.item_id), place: placeOf(job), value: completed };
  const fate = await setNewest(context, job, setting, (number, fence) =>
    steps.set(`${step} ${number}`, operation, payload, fence, (refused) => why(refused, context.config.contact)),
  );
  if (fate === 'newer') return { refused: 'there is a newer request for it' };
  return { refused: null, ...(typeof fate === 'object' && fate) };
}

/** People often give the task's id, because that is the id they see. */
async function isTask(item: string, steps: JobSteps, context: RunContext): Promise<boolean> {
  try {
    return await taskExists(item, context.job.connection, false, steps, context);
  } catch (error) {
    // The key may not read tasks.
    if (error instanceof Refused) return false;
    throw error;
  }
}

const NO_ITEM = 'there is no such item';

interface Outcome {
  /** Why the item was not changed, or null. */
  refused: string | null;
  /** True if only the person can look whether it was changed. */
  isUnclear?: boolean;
  /** When to set the item again, because no older request can arrive from then on; epoch milliseconds. */
  until?: number;
  /** The scopes to request if the person has to link their account first. */
  link?: readonly string[];
}

interface ItemOutcome extends Outcome {
  item: string;
}

async function asThem({ uses, tools }: Mine<'done' | 'undo'>, step: string, fields: Fields): Promise<Outcome> {
  try {
    await tools.change(step, callOf(uses.own, fields), () => null);
    return { refused: null };
  } catch (error) {
    if (!(error instanceof NotDone)) throw error;
    const isUnclear = error instanceof PerhapsDone;
    return { refused: error.message, isUnclear, ...(error instanceof AccountFirst && { link: error.scopes }) };
  }
}

/** See docs/partner-api.md#statuses for the meaning of the statuses. */
function why({ refusal }: Refused, contact: string): string {
  if (refusal.status === 404) return NO_ITEM;
  if (refusal.status === 403) return `Partner Relay has no right to change this checklist; ask ${contact} for it`;
  return 'the service refuses this id';
}
