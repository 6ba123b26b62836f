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

/** What came of an event for one automation of a team. */
export interface CustomAccepted extends Accepted {
  /** Its file threw. */
  hasFailed: boolean;
}

/**
 * Makes the jobs of one automation of a team. A mistake in its file is logged and counted. The other automations go on.
 * For a person whose role the event does not show, who may be a stranger, it wakes nobody, and is not delivered again.
 *
 * @param decide calls its `job`, and returns what came of it
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
    // What is loaded may leave something behind, too.
    const { trigger, drafted } = await catchingStrays(stray, async () => {
      const trigger = await custom.on(name);
      return { trigger, drafted: decide(trigger) };
    });
    taken = customDrafts(name, trigger, drafted, place, options.clock());
  } catch (error) {
    const isOfStranger = place.stranger !== undefined || (place.asked?.unproven && !place.asked.unproven.isShown);
    const failed = `${file} failed on an event${isOfStranger ? ' of a person whose role it does not show' : ''}`;
    const words =
      error instanceof ThrownByTeam ? error.inWords(file, custom) : cutToLength(String(error), LONGEST_ERROR, '…');
    log.error({ message: failed, cause: place.cause, error: words });
    metrics.record(isOfStranger ? { OwnAutomationsFailedForStrangers: 1 } : { OwnAutomationsFailed: 1 });
    // Other tools would send it again and again.
    if (error instanceof NotKept && place.cause?.from === 'webhook')
      return { jobs: [], ignored: [error.message], hasFailed: false };
    return { jobs: [], ignored: isOfStranger ? [failed] : [], hasFailed: !isOfStranger };
  }
  return { ...(await acceptTaken(taken, options, { cause: place.cause })), hasFailed: false };
}
