import type { Hooks, KnownHook } from './hooks.ts';
import { type HookDeliveries, HookRefused, NotNow, type RedeliveryApi } from './redelivery-api.ts';
import { createListing, type Seen } from './redelivery-listing.ts';
import { KEPT_FOR_MS, whatToDo } from './redelivery-rules.ts';
import type { Ending, FailedDeliveries, FailedDelivery } from './redelivery-store.ts';
import { createTurn, type Turn } from './redelivery-turn.ts';

export interface RedeliveryOptions {
  hooks: Hooks;
  failures: FailedDeliveries;
  api: RedeliveryApi;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  log: Pick<Console, 'info' | 'warn' | 'error'>;
}

/** What a run did, in numbers. */
export interface RedeliveryReport {
  /** Hooks that are known. */
  hooks: number;
  /** Of those, how many GitHub refuses to list or to redeliver for. */
  refused: number;
  /** Of those, how many are left to the next run before all was done. */
  unfinished: number;
  /** Deliveries that GitHub was asked for. */
  redelivered: number;
  /** Deliveries that did not arrive, and will not be asked for any more. */
  givenUp: number;
}

export interface Redelivery {
  /**
   * Has GitHub deliver again what did not arrive. May run at any time, twice at once, and be killed at any point.
   * @throws {AggregateError} of what nobody foresaw, once all hooks had their turn
   */
  run(): Promise<RedeliveryReport>;
}

/** One hook in one run. */
interface HookRun {
  hook: KnownHook;
  deliveries: HookDeliveries;
  seen: Seen;
  turn: Turn;
  report: RedeliveryReport;
}

/**
 * GitHub does not deliver again by itself what failed, but does on request.
 * https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
 */
export function createRedelivery({ hooks, failures, api, clock, sleep, log }: RedeliveryOptions): Redelivery {
  let toldThatItIsOff = false;

  async function redeliver(hook: KnownHook, turn: Turn, report: RedeliveryReport): Promise<void> {
    turn.inTime();
    const deliveries = await api.open(hook);
    const seen: Seen = { failed: await failures.of(hook), gotThroughAt: 0 };
    const listing = createListing({ hook, deliveries, seen, hooks, failures, clock, inTime: turn.inTime });
    // What an earlier run left unread comes last: it may be long, and what is new says what of it arrived meanwhile.
    const place = await listing.readNew();
    await askForFailed({ hook, deliveries, seen, turn, report });
    if (!place.gap) return;
    await listing.readGap(place);
    await askForFailed({ hook, deliveries, seen, turn, report });
  }

  async function askForFailed(one: HookRun): Promise<void> {
    const { failed, gotThroughAt } = one.seen;
    const open = [...failed.values()].filter(({ ended }) => !ended);
    // Those asked for least come first, so that what is left of a rate limit or of the time is not spent on the same.
    for (const delivery of open.sort((a, b) => a.asked - b.asked || a.attemptedAt - b.attemptedAt)) {
      const todo = whatToDo(delivery, gotThroughAt, clock());
      if (todo === 'ask') await askFor(delivery, one);
      if (todo === 'give up') await giveUp(delivery, 'given up', one);
    }
  }

  async function askFor(delivery: FailedDelivery, one: HookRun): Promise<void> {
    const { hook, deliveries, seen, turn, report } = one;
    await turn.beforeChange();
    const claimed = await failures.claim(hook, delivery);
    if (!claimed) return;
    const about = { hookId: hook.id, guid: delivery.guid, asked: claimed.asked };
    let answer: Awaited<ReturnType<HookDeliveries['redeliver']>>;
    try {
      answer = await deliveries.redeliver(claimed.attemptId);
    } catch (error) {
      const isUndone = error instanceof HookRefused || (error instanceof NotNow && !error.mayBeDone);
      if (isUndone) await failures.unclaim(hook, claimed, delivery);
      throw error;
    }
    seen.failed.set(delivery.guid, claimed);
    if (answer === 'gone') return giveUp(claimed, 'gone', one);
    if (answer === 'rejected') return log.warn({ message: 'GitHub does not want to deliver it again now', ...about });
    report.redelivered++;
    log.info({ message: 'delivery asked for again', ...about });
  }

  async function giveUp(delivery: FailedDelivery, ending: Ending, { hook, seen, report }: HookRun): Promise<void> {
    const { guid, asked } = delivery;
    await failures.end(hook, guid, ending);
    seen.failed.set(guid, { ...delivery, ended: ending });
    report.givenUp++;
    log.warn({ message: 'delivery given up', hookId: hook.id, guid, asked, ending });
  }

  /** Tells why the turn of a hook ended before its time. @returns whether somebody foresaw that */
  async function tellEnd(error: unknown, hook: KnownHook, report: RedeliveryReport): Promise<boolean> {
    const about = { hookId: hook.id, hook: `${hook.kind} ${hook.target}` };
    if (error instanceof NotNow) {
      report.unfinished++;
      log.info({ message: 'the rest of a hook is left to the next run', ...about, reason: error.message });
      return true;
    }
    if (!(error instanceof HookRefused)) {
      log.error({ message: 'nothing could be redelivered for a hook', ...about, error: String(error) });
      return false;
    }
    // By then GitHub has nothing left that could be asked for.
    if (error.status === 404 && hook.seenAt < clock() - KEPT_FOR_MS) {
      await hooks.forget(hook);
      log.info({ message: 'hook forgotten: it delivers nothing, and GitHub does not know it', ...about });
      return true;
    }
    report.refused++;
    log.warn({ message: 'GitHub refuses to redeliver for a hook', ...about, reason: error.message });
    return true;
  }

  return {
    async run() {
      const report: RedeliveryReport = { hooks: 0, refused: 0, unfinished: 0, redelivered: 0, givenUp: 0 };
      const known = await hooks.known();
      report.hooks = known.length;
      // Without a hook nobody looks at the secret: who does not use GitHub has not entered it.
      if (known.length === 0) return report;
      if (!(await api.isOn())) {
        if (!toldThatItIsOff) log.warn({ message: 'redelivery is off: the github secret has no App and no token' });
        toldThatItIsOff = true;
        return report;
      }
      toldThatItIsOff = false;
      const turn = createTurn(clock, sleep);
      const errors: unknown[] = [];
      for (const hook of known) {
        try {
          await redeliver(hook, turn, report);
        } catch (error) {
          // One hook must not keep the others from it.
          const isForeseen = await tellEnd(error, hook, report);
          if (!isForeseen) errors.push(error);
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${known.length} hooks failed`);
      return report;
    },
  };
}
