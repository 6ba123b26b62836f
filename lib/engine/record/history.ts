import * as z from 'zod/mini';
import { storedTime } from '../../state/table/unreadable-item.ts';
import { cutToLength } from '../../text.ts';

/**
 * What a job waits for.
 * - `budget`: a slot, in the waiting line or a pause after a 429
 * - `retry`: the pause after a failed attempt
 * - `answer`: to find out whether a call without a clear answer was carried out
 * - `late call`: until an older call can no longer be carried out, to set once more what that may change
 * - `outage`: the connection, an operation or another platform does not work
 * - `job`: another job
 * - `question`: a person's answer in Slack
 * - `pause`: a time that the relay chose, for example to send several changes together
 * - `operator`: it was parked, or lacks its file or version
 */
export type WaitsFor =
  | 'budget'
  | 'retry'
  | 'answer'
  | 'late call'
  | 'outage'
  | 'key'
  | 'job'
  | 'question'
  | 'pause'
  | 'operator';

/** A wait of a job between two runs. Times are epoch milliseconds. */
export interface Waited {
  for: WaitsFor;
  from: number;
  /** Missing while the wait lasts. */
  until?: number;
  why: string;
  /** How often in a row the job looked again, found the same reason, and continued to wait. Missing if once. */
  looks?: number;
}

export interface OperatorDecision {
  /** Epoch milliseconds. */
  at: number;
  /** The operator: a name of the operating system, or an AWS identity. */
  by: string;
  what:
    | 'replayed'
    | 'resumed'
    | 'discarded'
    | 'resolved with an id'
    | 'resolved: create again'
    | 'resolved: search once more'
    | 'linked';
  /** The operator's own words, or the id that the operator gave. */
  reason?: string;
}

const MOST_WAITS = 20;
const MOST_DECISIONS = 20;
/** A reason can quote the service, so it is cut to this length. */
const LONGEST_TEXT = 300;
/** A wait for the same reason that begins this soon after the last one continues it. */
const SAME_WAIT_WITHIN_MS = 60_000;

/** Returns the history after a run that ended with a wait. */
export function beginWait(waits: Newest<Waited> | undefined, wait: Pick<Waited, 'for' | 'from' | 'why'>) {
  const begun = { ...wait, why: cutToLength(wait.why, LONGEST_TEXT, '…') };
  const last = waits?.newest.at(-1);
  const isSame =
    last?.until !== undefined &&
    last.for === begun.for &&
    last.why === begun.why &&
    begun.from - last.until < SAME_WAIT_WITHIN_MS;
  if (!waits || !isSame) return withEntry<Waited>(waits, begun, MOST_WAITS);
  const { until, ...goesOn } = last;
  return { ...waits, newest: [...waits.newest.slice(0, -1), { ...goesOn, looks: (last.looks ?? 1) + 1 }] };
}

/** Returns the history after a worker claims the job again. @returns undefined if no wait was in progress */
export function endWait(waits: Newest<Waited> | undefined, until: number): Newest<Waited> | undefined {
  const last = waits?.newest.at(-1);
  if (!waits || !last || last.until !== undefined) return undefined;
  return { ...waits, newest: [...waits.newest.slice(0, -1), { ...last, until }] };
}

/**
 * Returns the last wait, dated from the first wait for the same thing in the current series. A minute between two waits
 * ends a series.
 */
export function waitFromFirst({ newest: all }: Newest<Waited>): Waited | undefined {
  const last = all.at(-1);
  const first = all.findLastIndex(({ from }, at) => from - (all[at - 1]?.until ?? 0) >= SAME_WAIT_WITHIN_MS);
  return last && { ...last, from: all.slice(first).find((wait) => wait.for === last.for)?.from ?? last.from };
}

export function withDecision(decisions: Newest<OperatorDecision> | undefined, decision: OperatorDecision) {
  const reason = decision.reason && cutToLength(decision.reason, LONGEST_TEXT, '…');
  return withEntry(decisions, { ...decision, reason }, MOST_DECISIONS);
}

/** The newest entries of a list. Older ones are dropped because an item of the table holds 400 KB at most. */
export interface Newest<Entry> {
  /** Oldest first. */
  newest: Entry[];
  /** How many older entries were dropped. */
  older: number;
}

/** Adds an entry, and drops the oldest if there are more than `most`. */
export function withEntry<Entry>(list: Newest<Entry> | undefined, entry: Entry, most: number): Newest<Entry> {
  const { newest = [], older = 0 } = list ?? {};
  const all = [...newest, entry];
  const dropped = Math.max(0, all.length - most);
  return { newest: all.slice(dropped), older: older + dropped };
}

/** Checks only that the list can be shown, because only people read it. */
export const newestShape = <Entry>() => z.custom<Newest<Entry>>(isNewest);

function isNewest(value: unknown): boolean {
  const list = value as Partial<Newest<unknown>> | null | undefined;
  return Array.isArray(list?.newest) && Number.isSafeInteger(list.older) && list.newest.every(isEntry);
}

const isEntry = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  Object.values(entry).every((value) => typeof value !== 'number' || storedTime.safeParse(value).success);
