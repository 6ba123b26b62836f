import { type Accepted, type AcceptTakenOptions, acceptTaken, type Taken } from '../../engine/line/accept-taken.ts';
import type { Metrics } from '../../state/metrics/metrics.ts';
import { cutToLength } from '../../text.ts';
import type { CustomAutomations, CustomTrigger } from '../../triggers/custom-automation.ts';
import { customDrafts, type EventPlace, NotKept } from './custom-drafts.ts';
import { ThrownByTeam } from './thrown.ts';

const LONGEST_ERROR = 200;

export interface AcceptCustomOptions extends AcceptTakenOptions {
  custom: CustomAutomations;
  log: Pick<Console, 'info' | 'error'>;
  metrics: Metrics;
}

/** The result of one event for one custom automation. */
export interface CustomAccepted extends Accepted {
  /** True if its file threw. */
  hasFailed: boolean;
}

/**
 * Accepts the jobs that one custom automation makes from an event. If its file fails, the failure is logged and
 * counted, and the other automations continue. If the event may come from a stranger, the failure raises no alarm, and
 * the event is not delivered again.
 *
 * @param decide calls the automation's `job` and returns its result
 */
export async function acceptCustomJobs(
  name: string,
  place: EventPlace,
  options: AcceptCustomOptions,
  decide: (trigger: CustomTrigger) => unknown,
): Promise<CustomAccepted> {
  const { custom, log, metrics } = options;
  const file = `automations/${name}.ts`;
  let taken: Taken;
  try {
    const { catchingStrays, strayOf } = await import('./strays.ts');
    const stray = strayOf(file, options, { cause: place.cause });
    // Loading the file may also leave a promise or a timer behind.
    const { trigger, drafted } = await catchingStrays(stray, async () => {
      const trigger = await custom.on(name);
      return { trigger, drafted: decide(trigger) };
    });
    taken = customDrafts(name, trigger, drafted, place, options.clock());
  } catch (error) {
    const isOfStranger = place.stranger !== undefined || (place.asked?.unproven && !place.asked.unproven.isShown);
    const failed = `${file} failed on an event${isOfStranger ? ' that may be a stranger’s' : ''}`;
    const words =
      error instanceof ThrownByTeam ? error.inWords(file, custom) : cutToLength(String(error), LONGEST_ERROR, '…');
    log.error({ message: failed, cause: place.cause, error: words });
    metrics.record(isOfStranger ? { OwnAutomationsFailedForStrangers: 1 } : { OwnAutomationsFailed: 1 });
    // The event would fail again each time, and other tools would repeat it forever.
    if (error instanceof NotKept && place.cause?.from === 'webhook')
      return { jobs: [], ignored: [error.message], hasFailed: false };
    return {
      jobs: [],
      ignored: isOfStranger ? [custom.showsErrors ? `${failed}: ${words}` : failed] : [],
      hasFailed: !isOfStranger,
    };
  }
  return { ...(await acceptTaken(taken, options, { cause: place.cause })), hasFailed: false };
}
