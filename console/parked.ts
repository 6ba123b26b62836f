import { causeOf, laterOf } from '../lib/engine/operate/parked-groups.ts';
import { isOutcomeUnknown, type Job } from '../lib/engine/record/job.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { nextOf } from './job.ts';
import type { OperatedRelay } from './relay.ts';
import { rowsOf } from './row.ts';

/** How many parked jobs are shown, newest first. */
const SHOWN = 500;

/** The parked jobs, grouped by reason. The largest group comes first. */
export async function readParked(relay: OperatedRelay) {
  const { stores } = relay;
  const found = await stores.jobs.list('parked', { limit: SHOWN + 1, newestFirst: true });
  const now = stores.clock();
  const actionsOf = (job: Job) => nextOf(job, now).actions;
  const groups = Map.groupBy(found.slice(0, SHOWN), (job) =>
    // A question is answered for one job.
    actionsOf(job).includes('answer') ? job.id : reasonOf(job),
  );
  const shown = [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .flatMap(async ([key, jobs]) => {
      const [first] = jobs;
      if (!first) return [];
      const [outcomeUnknown, help] = [isOutcomeUnknown(first), nextOf(jobs.reduce(laterOf), now)];
      // Shows the whole reason if it is the same for all jobs, otherwise only the common part.
      const whole = new Set(jobs.map(({ parked }) => parked?.reason ?? ''));
      const reason = whole.size === 1 && !outcomeUnknown ? [...whole].join('') : reasonOf(first);
      // A group offers only actions that all its jobs allow. The id of a created object belongs to one job.
      const others = jobs.map(actionsOf);
      const actions = help.actions.filter((one) => one !== 'done' && others.every((all) => all.includes(one)));
      const oldestAt = Math.min(...jobs.map(({ wakeAt }) => wakeAt));
      return { key, reason, outcomeUnknown, oldestAt, help: help.text, actions, jobs: await rowsOf(jobs, relay) };
    });
  return { more: found.length > SHOWN, groups: (await Promise.all(shown)).flat() };
}

/** The reason without its variable parts. That of an unknown outcome is about a search, so what is unknown is said. */
function reasonOf(job: Job): string {
  if (!isOutcomeUnknown(job)) return causeOf(job.parked?.reason ?? '');
  const { createdId = '' } = operations.get(job.parked?.open?.operation ?? '') ?? {};
  return `The ${createdId.replace(/_id$/, '') || 'object'} may or may not exist`;
}
