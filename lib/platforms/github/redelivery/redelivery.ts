import { expiry } from '../../../state/table/expiry.ts';
import { keys } from '../../../state/table/keys.ts';
import { setFields, type Table } from '../../../state/table/table.ts';
import type { CustomAutomations } from '../../../triggers/custom-automation.ts';
import { keptForMs, takenEvents } from '../delivery.ts';
import type { GithubClient } from '../github-client.ts';
import { type Hook, type Hooks, type KnownHook, targetName } from './hooks.ts';
import { type Attempt, createRedeliveryApi, type HookDeliveries, HookRefused, NotNow } from './redelivery-api.ts';

export interface RedeliveryOptions {
  github: GithubClient;
  /** Such as `https://api.github.com`. */
  apiUrl: string;
  custom: CustomAutomations;
  hooks: Hooks;
  table: Table;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  log: Pick<Console, 'info' | 'warn' | 'error'>;
}

/** The result of a run, in numbers. */
export interface RedeliveryReport {
  hooks: number;
  /** Hooks for which GitHub refuses to list or redeliver. */
  refused: number;
  /** Hooks with which the next run has to continue. */
  unfinished: number;
  /** Deliveries for which a redelivery was requested. */
  redelivered: number;
  /** Failed deliveries that will not be requested again. */
  givenUp: number;
}

/** A delivery that has neither arrived nor been refused. */
interface OpenDelivery {
  guid: string;
  /** When GitHub first attempted it, in epoch milliseconds. */
  firstAt: number;
  newest: Attempt;
  /** How many redeliveries failed, although another delivery had arrived since the previous attempt. */
  chances: number;
}

/** A run ends itself before Lambda's timeout. */
const RUN_MS = 4 * 60_000;
/** https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api */
export const BETWEEN_CHANGES_MS = 1_000;
/**
 * How long GitHub may take to list an attempt. Its documentation says minutes.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/troubleshooting-webhooks
 */
const LISTED_WITHIN_MS = 3_600_000;
/** Shorter than the time between two runs, and long enough for GitHub to make and list the attempt. */
const ASK_AGAIN_AFTER_MS = 10 * 60_000;
const MAX_CHANCES = 5;
/** Statuses that the same bytes would get again. Not 401, because a wrong webhook secret can be corrected. */
const REFUSALS = new Set([400, 413]);
/** Longer than GitHub lists any attempt. */
const CLAIM_KEPT_FOR_MS = 8 * 86_400_000;

/**
 * Creates the run that requests redeliveries of what did not arrive, because GitHub does not repeat deliveries itself.
 * Runs may overlap, and may be killed at any time.
 * https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
 * @returns the run, which tries every hook and then throws an AggregateError of unexpected errors
 */
export function createRedelivery(options: RedeliveryOptions): () => Promise<RedeliveryReport> {
  const { github, hooks, table, clock, sleep, log } = options;
  const deliveriesOf = createRedeliveryApi(github, clock);
  const keptMs = keptForMs(options.apiUrl);
  const taken = takenEvents(options.custom);
  let toldThatItIsOff = false;

  /** Reads a hook's list, adds the hook to `listed`, and requests the deliveries that did not arrive. */
  async function redeliver(hook: KnownHook, endsAt: number, listed: Hook[], report: RedeliveryReport): Promise<void> {
    const now = clock();
    const stopAtEnd = () => {
      if (clock() >= endsAt) throw new NotNow('the time of this run is over');
    };
    stopAtEnd();
    const deliveries = deliveriesOf(hook);
    const from = Math.max(hook.settledTo, now - keptMs);
    const { attempts, end } = await readAttempts(deliveries, from, taken, () => clock() >= now + (endsAt - now) / 2);
    listed.push(hook);
    if (hook.settledTo > 0 && hook.settledTo < from) {
      const lost = { from: new Date(hook.settledTo).toISOString(), to: new Date(from).toISOString() };
      log.warn({ message: 'GitHub no longer keeps what failed in this time', ...about(hook), ...lost });
      report.givenUp++;
    }
    const open = openDeliveries(attempts, taken);
    const rest = open.filter(({ chances }) => chances < MAX_CHANCES);
    for (const { guid, chances } of open) {
      if (chances < MAX_CHANCES || !(await claim(hook, guid, 'givenUpAt', 0))) continue;
      log.warn({ message: 'delivery given up: it fails while others arrive', ...about(hook), guid });
      report.givenUp++;
    }
    const openSince = rest[0]?.firstAt ?? Number.POSITIVE_INFINITY;
    const settledTo = end === 'whole' ? Math.min(now - LISTED_WITHIN_MS, openSince) : hook.settledTo && from;
    await hooks.keepPlace({ ...hook, settledTo, listedAt: now });
    for (const { guid, newest } of toAskFor(rest, attempts.find(isDelivered)?.deliveredAt ?? 0)) {
      stopAtEnd();
      if (!(await claim(hook, guid, 'askedAt', clock() - ASK_AGAIN_AFTER_MS))) continue;
      const isAsked = await deliveries.redeliver(newest.id);
      if (isAsked) report.redelivered++;
      const message = isAsked ? 'redelivery asked for' : 'GitHub does not redeliver this now';
      log.info({ message, ...about(hook), guid });
      await sleep(BETWEEN_CHANGES_MS);
    }
    if (end === 'out of time') throw new NotNow('the list is too long for one run');
  }

  /**
   * Records an action for a delivery, so that two simultaneous runs do not both take it.
   * @returns false if another run has recorded it after `again`
   */
  async function claim(hook: Hook, guid: string, what: 'askedAt' | 'givenUpAt', again: number): Promise<boolean> {
    const now = clock();
    const written = await table.update(
      keys.failedDelivery(`${targetName(hook)}#${hook.id}`, guid),
      setFields({ [what]: now, expiresAt: expiry(now, CLAIM_KEPT_FOR_MS) }),
      { expression: `attribute_not_exists(#${what}) OR #${what} <= :again`, values: { again } },
    );
    return written !== undefined;
  }

  /** Logs why a hook is refused. @returns false for a hook that does not exist; it is forgotten */
  async function isRefused(hook: KnownHook, error: HookRefused, listed: readonly Hook[]): Promise<boolean> {
    const mayNotExist = !listed.includes(hook) && (error.status === 404 || error.status === undefined);
    const hasSibling = listed.some((one) => targetName(one) === targetName(hook));
    const isOver = error.status === 404 && Math.max(hook.seenAt, hook.listedAt) < clock() - keptMs;
    const isForgotten = mayNotExist && (hasSibling || isOver);
    if (isForgotten) await hooks.forget(hook);
    const message = isForgotten ? 'hook forgotten: GitHub does not know it' : 'GitHub refuses to redeliver for a hook';
    log.warn({ message, ...about(hook), reason: error.message });
    return !isForgotten;
  }

  return async () => {
    const report: RedeliveryReport = { hooks: 0, refused: 0, unfinished: 0, redelivered: 0, givenUp: 0 };
    const known = await hooks.known();
    report.hooks = known.length;
    // Without hooks, the secret is not read: a team without GitHub has not entered it.
    if (known.length === 0) return report;
    if (!(await github.isThere())) {
      if (!toldThatItIsOff) log.warn({ message: 'redelivery is off: the github secret has no App and no token' });
      toldThatItIsOff = true;
      return report;
    }
    const startedAt = clock();
    const listed: Hook[] = [];
    const refused: [KnownHook, HookRefused][] = [];
    const errors: unknown[] = [];
    for (const [index, hook] of known.entries()) {
      try {
        // The next hook gets the time that this one does not use.
        await redeliver(hook, startedAt + (RUN_MS * (index + 1)) / known.length, listed, report);
      } catch (error) {
        if (error instanceof HookRefused) {
          refused.push([hook, error]);
        } else if (error instanceof NotNow) {
          report.unfinished++;
          log.info({ message: 'the next run goes on with this hook', ...about(hook), reason: error.message });
        } else {
          errors.push(error);
          log.error({ message: 'redelivery failed for a hook', ...about(hook), error: String(error) });
        }
      }
    }
    for (const [hook, error] of refused) if (await isRefused(hook, error, listed)) report.refused++;
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${known.length} hooks failed`);
    return report;
  };
}

export function isDelivered({ statusCode }: Attempt): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Reads a list back to a given time, until it shows an outage, or until there is no time left. */
async function readAttempts(
  deliveries: HookDeliveries,
  from: number,
  taken: ReadonlySet<string>,
  isTooLate: () => boolean,
) {
  const attempts: Attempt[] = [];
  for await (const { data, isLast } of deliveries.pages()) {
    attempts.push(...data.filter(({ deliveredAt }) => deliveredAt >= from));
    if (isLast || (data.at(-1)?.deliveredAt ?? 0) < from) break;
    const isOutage = !attempts.some(isDelivered) && openDeliveries(attempts, taken).length > 0;
    if (isOutage) return { attempts, end: 'outage' };
    if (isTooLate()) return { attempts, end: 'out of time' };
  }
  return { attempts, end: 'whole' };
}

/**
 * Returns the open deliveries of the accepted events, oldest first. A delivery without its first attempt is left out:
 * it is already settled, or a later run reads all of it.
 *
 * @param attempts from the newest to some older one, without gaps
 */
function openDeliveries(attempts: readonly Attempt[], events: ReadonlySet<string>): OpenDelivery[] {
  const arrivals = attempts.filter(isDelivered).map(({ deliveredAt }) => deliveredAt);
  const taken = attempts.filter(({ event }) => events.has(event)).reverse();
  return [...Map.groupBy(taken, ({ guid }) => guid).values()].flatMap((own) => {
    const [first, newest] = [own[0], own.at(-1)];
    const isSettled = own.some(isDelivered) || (newest && REFUSALS.has(newest.statusCode));
    if (!first || !newest || first.isRedelivery || isSettled) return [];
    const chances = own.filter(({ deliveredAt }, index) => {
      const before = own[index - 1];
      return before && arrivals.some((arrival) => arrival > before.deliveredAt && arrival < deliveredAt);
    });
    return [{ guid: first.guid, firstAt: first.deliveredAt, newest, chances: chances.length }];
  });
}

/**
 * Returns the deliveries to request, in order: those for which another delivery has arrived since their newest attempt.
 * During an outage, only one delivery is requested, to find out when it ends; this does not count as a chance.
 *
 * @param open oldest first
 * @param arrivedAt when a delivery last arrived
 */
function toAskFor(open: readonly OpenDelivery[], arrivedAt: number): OpenDelivery[] {
  const due = open.filter(({ newest }) => newest.deliveredAt < arrivedAt);
  // The oldest come first, because GitHub drops them first. But the youngest precedes them: its 404 can only mean a
  // missing permission.
  const youngest = due.pop();
  if (youngest) return [youngest, ...due];
  // Each run tries a different delivery. Otherwise one that always fails would hide that the others would arrive.
  return open.toSorted((a, b) => a.newest.deliveredAt - b.newest.deliveredAt).slice(0, 1);
}

function about({ kind, target, id }: Hook) {
  return { hookId: id, hook: `${kind} ${target}` };
}
