import { type AcceptedBy, acceptEvent } from '../../engine/line/accept-event.ts';
import type { Job, JobDraft } from '../../engine/record/job.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import { LIFETIME_MS } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';
import type { OwnAutomations, OwnTrigger } from '../../triggers/own-automation.ts';
import { NotKept, type OwnDraft, type OwnPlace, ownDrafts } from './draft.ts';

/** Shorter than a job's record is kept, by a margin for clocks and for deliveries in transit. */
const LONGEST_MS = LIFETIME_MS - 86_400_000;

const LONGEST_ERROR = 200;

export interface AcceptOwnOptions extends Pick<AcceptedBy, 'jobs' | 'queue'> {
  own: OwnAutomations;
  table: Table;
  clock: () => number;
  log: Pick<Console, 'info' | 'error'>;
  metrics: Metrics;
}

/** What came of an event for one automation of a team. */
export interface OwnAccepted {
  jobs: { id: string; repeat: boolean }[];
  /** Why there is no job, or not one more. */
  ignored: string[];
  /** Its file threw. */
  hasFailed: boolean;
}

/**
 * Makes the jobs of one automation of a team. A mistake in its file is logged and counted. The other automations go on.
 * For a person whose role the event does not show, who may be a stranger, it wakes nobody, and is not delivered again.
 *
 * @param decide calls its `job`, and returns what came of it
 */
export async function acceptOwnJobs(
  name: string,
  place: OwnPlace,
  options: AcceptOwnOptions,
  decide: (trigger: OwnTrigger) => unknown,
): Promise<OwnAccepted> {
  const { own, log, metrics } = options;
  const result: OwnAccepted = { jobs: [], ignored: [], hasFailed: false };
  let drafts: readonly OwnDraft[] | string;
  try {
    const { catchingStrays, strayOf } = await import('./strays.ts');
    const stray = strayOf(`automations/${name}.ts`, log, { cause: place.cause });
    // What is loaded may leave something behind, too.
    const { trigger, drafted } = await catchingStrays(stray, async () => {
      const trigger = await own.on(name);
      return { trigger, drafted: decide(trigger) };
    });
    drafts = ownDrafts(name, trigger, drafted, place, options.clock());
  } catch (error) {
    const isOfStranger = place.stranger !== undefined || (place.asked?.unproven && !place.asked.unproven.isShown);
    const failed = `automations/${name}.ts failed on an event${isOfStranger ? ' of a person whose role it does not show' : ''}`;
    log.error({ message: failed, cause: place.cause, error: cutToLength(String(error), LONGEST_ERROR, '…') });
    metrics.record(isOfStranger ? { OwnAutomationsFailedForStrangers: 1 } : { OwnAutomationsFailed: 1 });
    // Other tools would send it again and again.
    if (error instanceof NotKept && place.cause?.from === 'webhook') return { ...result, ignored: [error.message] };
    return isOfStranger ? { ...result, ignored: [failed] } : { ...result, hasFailed: true };
  }
  if (typeof drafts === 'string') return { ...result, ignored: [drafts] };
  for (const draft of drafts) {
    const made = await acceptOwn(draft, options);
    if (typeof made === 'string') {
      result.ignored.push(made);
      continue;
    }
    const { job, repeat } = made;
    const message = repeat ? 'repeat received' : 'job queued';
    log.info({ message, cause: place.cause, jobId: job.id, summary: job.summary });
    result.jobs.push({ id: job.id, repeat });
  }
  return result;
}

/**
 * Stores and queues a job of a team's automation. A job's record expires 30 days after its end, so an event that is older
 * makes none: nothing shows any more whether it was done.
 *
 * @returns the job, and whether the event was accepted before; or why there is no job
 */
export async function acceptOwn(
  { draft, at }: OwnDraft,
  { table, clock, ...by }: AcceptedBy & { table: Table; clock: () => number },
): Promise<{ job: Job; repeat: boolean } | string> {
  if (at === undefined) return acceptForGood(draft, { table, clock, ...by });
  return clock() - at > LONGEST_MS ? TOO_OLD : acceptEvent(draft, by);
}

const TOO_OLD = 'it is more than 29 days old, and may have been done already';

/** The same for an event that is remembered without an end, because nothing says how old it is. */
export async function acceptForGood(
  draft: JobDraft,
  { table, clock, ...by }: AcceptedBy & { table: Table; clock: () => number },
): Promise<{ job: Job; repeat: boolean } | string> {
  const first = await firstAccepted(draft.id, table, clock());
  return clock() - first > LONGEST_MS ? TOO_OLD : acceptEvent(draft, by);
}

/** When an event that does not say when it happened came first; epoch milliseconds. */
async function firstAccepted(jobId: string, table: Table, now: number): Promise<number> {
  const key = keys.ownEvent(jobId);
  if (await table.put({ ...key, at: now }, { expression: 'attribute_not_exists(#pk)' })) return now;
  return Number((await table.get(key))?.at ?? now);
}
