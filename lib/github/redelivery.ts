import { type Hook, type Hooks, type KnownHook, targetName } from './hooks.ts';
import { type HookDeliveries, HookRefused, NotNow } from './redelivery-api.ts';
import type { Claims } from './redelivery-claims.ts';
import { type Attempt, decide, isDelivered, type OpenDelivery, openDeliveries } from './redelivery-decision.ts';

export interface RedeliveryOptions {
  hooks: Hooks;
  claims: Claims;
  deliveriesOf: (hook: Hook) => HookDeliveries;
  /** Whether the `github` secret holds credentials. */
  isOn: () => Promise<boolean>;
  /** How long GitHub keeps a delivery. */
  keptForMs: number;
  /** Those that an automation takes. */
  events: ReadonlySet<string>;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  log: Pick<Console, 'info' | 'warn' | 'error'>;
}

/** What a run did, in numbers. */
export interface RedeliveryReport {
  /** Hooks that are known. */
  hooks: number;
  /** Hooks that GitHub refuses to list or to redeliver for. */
  refused: number;
  /** Hooks that the next run has to go on with. */
  unfinished: number;
  /** Deliveries that GitHub was asked for. */
  redelivered: number;
  /** Deliveries that failed and will not be asked for any more. */
  givenUp: number;
}

/** The turn of one hook in a run. */
interface Turn {
  deliveries: HookDeliveries;
  /** Epoch milliseconds. */
  endsAt: number;
  /** The hooks that could be listed in this run. */
  listed: KnownHook[];
  report: RedeliveryReport;
}

/** A run ends by itself before Lambda ends it. */
const RUN_MS = 4 * 60_000;
/** https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api */
const BETWEEN_CHANGES_MS = 1_000;
/**
 * An attempt can be listed minutes after it was made.
 * https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/troubleshooting-webhooks
 */
const LISTED_WITHIN_MS = 3_600_000;

/**
 * Creates the run that has GitHub redeliver what did not arrive. GitHub does this only on request. Runs may overlap, and
 * may be killed at any point.
 * https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
 *
 * @returns a run, which throws an AggregateError of unforeseen errors once every hook had its turn
 */
export function createRedelivery(options: RedeliveryOptions): () => Promise<RedeliveryReport> {
  const { hooks, claims, deliveriesOf, isOn, keptForMs, events, clock, sleep, log } = options;
  let toldThatItIsOff = false;

  async function redeliver(hook: KnownHook, turn: Turn): Promise<void> {
    const now = clock();
    if (now >= turn.endsAt) throw new NotNow('the time of this run is over');
    const settledTo = hook.place?.settledTo ?? 0;
    const from = Math.max(settledTo, now - keptForMs);
    const { attempts, end } = await read(turn.deliveries, from, now + (turn.endsAt - now) / 2);
    turn.listed.push(hook);
    if (settledTo > 0 && settledTo < from) {
      const lost = { from: new Date(settledTo).toISOString(), to: new Date(from).toISOString() };
      log.warn({ message: 'GitHub no longer keeps what failed in this time', ...about(hook), ...lost });
      turn.report.givenUp++;
    }
    const { giveUp, ask, openSince } = decide(attempts, events);
    for (const { guid } of giveUp) {
      if (!(await claims.giveUp(hook, guid))) continue;
      log.warn({ message: 'delivery given up: it fails while others arrive', ...about(hook), guid });
      turn.report.givenUp++;
    }
    const settled = end === 'whole' ? Math.min(now - LISTED_WITHIN_MS, openSince) : settledTo && from;
    await hooks.keepPlace(hook, { settledTo: settled, listedAt: now });
    for (const delivery of ask) await askFor(hook, delivery, turn);
    if (end === 'out of time') throw new NotNow('the list is too long for one run');
  }

  /** Reads the list back to a time, or until it shows that nothing gets through now. */
  async function read(deliveries: HookDeliveries, from: number, endsAt: number) {
    const attempts: Attempt[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await deliveries.list(cursor);
      attempts.push(...page.attempts.filter(({ deliveredAt }) => deliveredAt >= from));
      cursor = page.next;
      if (!cursor || (page.attempts.at(-1)?.deliveredAt ?? 0) < from) return { attempts, end: 'whole' };
      const isOutage = !attempts.some(isDelivered) && openDeliveries(attempts, events).length > 0;
      if (isOutage) return { attempts, end: 'outage' };
      if (clock() >= endsAt) return { attempts, end: 'out of time' };
    }
  }

  async function askFor(hook: KnownHook, { guid, newest }: OpenDelivery, turn: Turn): Promise<void> {
    if (clock() >= turn.endsAt) throw new NotNow('the time of this run is over');
    if (!(await claims.ask(hook, guid))) return;
    const isAsked = await turn.deliveries.redeliver(newest.id);
    if (isAsked) turn.report.redelivered++;
    const message = isAsked ? 'redelivery asked for' : 'GitHub does not redeliver this now';
    log.info({ message, ...about(hook), guid });
    await sleep(BETWEEN_CHANGES_MS);
  }

  /** Logs why a hook is refused. @returns false for a hook that does not exist, which is forgotten */
  async function isRefused(hook: KnownHook, error: HookRefused, listed: readonly KnownHook[]): Promise<boolean> {
    const isListed = listed.includes(hook);
    const mayNotExist = !isListed && (error.status === 404 || error.status === undefined);
    const hasSibling = listed.some((one) => targetName(one) === targetName(hook));
    const knownAt = Math.max(hook.seenAt, hook.place?.listedAt ?? 0);
    const isOver = error.status === 404 && knownAt < clock() - keptForMs;
    const reason = error.message;
    if (mayNotExist && (hasSibling || isOver)) {
      await hooks.forget(hook);
      log.warn({ message: 'hook forgotten: GitHub does not know it', ...about(hook), reason });
      return false;
    }
    log.warn({ message: 'GitHub refuses to redeliver for a hook', ...about(hook), reason });
    return true;
  }

  return async () => {
    const report: RedeliveryReport = { hooks: 0, refused: 0, unfinished: 0, redelivered: 0, givenUp: 0 };
    const known = await hooks.known();
    report.hooks = known.length;
    // Without a hook the secret is not read: a team that does not use GitHub has not entered it.
    if (known.length === 0) return report;
    if (!(await isOn())) {
      if (!toldThatItIsOff) log.warn({ message: 'redelivery is off: the github secret has no App and no token' });
      toldThatItIsOff = true;
      return report;
    }
    const startedAt = clock();
    const listed: KnownHook[] = [];
    const refused: { hook: KnownHook; error: HookRefused }[] = [];
    const errors: unknown[] = [];
    for (const [index, hook] of known.entries()) {
      // What one hook leaves of its share is there for the next.
      const endsAt = startedAt + (RUN_MS * (index + 1)) / known.length;
      try {
        await redeliver(hook, { deliveries: deliveriesOf(hook), endsAt, listed, report });
      } catch (error) {
        if (error instanceof HookRefused) {
          refused.push({ hook, error });
        } else if (error instanceof NotNow) {
          report.unfinished++;
          log.info({ message: 'the next run goes on with this hook', ...about(hook), reason: error.message });
        } else {
          errors.push(error);
          log.error({ message: 'redelivery failed for a hook', ...about(hook), error: String(error) });
        }
      }
    }
    for (const { hook, error } of refused) if (await isRefused(hook, error, listed)) report.refused++;
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${known.length} hooks failed`);
    return report;
  };
}

function about({ kind, target, id }: Hook) {
  return { hookId: id, hook: `${kind} ${target}` };
}
