import type { RelayConfig } from '../../lib/config/schema.ts';
import { acceptEvent } from '../../lib/engine/line/accept-event.ts';
import type { PastEvent } from './past-events.ts';
import { startTrialRelay, type TrialRelay } from './trial-relay.ts';

export type Rehearsal = Awaited<ReturnType<typeof rehearse>>;

/** A job that still waits this long after the last event is shown as waiting. */
const LONGEST_AFTER_MS = 7 * 86_400_000;

/**
 * Lets events happen again under a configuration, each at its time: with the real functions, budget and waiting lines,
 * and with the sandbox. One job runs at a time and answers come at once, so a wait of seconds says nothing.
 *
 * @returns the jobs at the end, with the event of each, and when it ended; epoch milliseconds
 */
export async function rehearse(events: readonly PastEvent[], config: RelayConfig) {
  const relay = await startTrialRelay(config, events[0]?.at ?? 0);
  try {
    const eventOf = new Map<string, PastEvent>();
    for (const event of events) {
      await relay.workUntil(event.at);
      relay.clock.now = Math.max(relay.clock.now, event.at);
      for (const id of await happen(event, relay)) eventOf.set(id, event);
    }
    await relay.workUntil(relay.clock.now + LONGEST_AFTER_MS);
    const jobs = (await relay.jobs()).flatMap((job) => {
      const event = eventOf.get(job.id);
      return event ? [{ event, job }] : [];
    });
    return { jobs, calls: relay.calls, end: relay.clock.now };
  } finally {
    await relay.close();
  }
}

/** @returns the ids of the jobs that the configuration makes of it */
async function happen(event: PastEvent, { stores, take }: TrialRelay): Promise<string[]> {
  if ('job' in event) return [(await acceptEvent(event.job, stores)).job.id];
  return (await take('issues', event.issue, `rehearsed-${event.at}`)).jobs;
}
