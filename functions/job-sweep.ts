import '../lib/without-jit.ts';
import middy from '@middy/core';
import { endingCalls } from '../lib/aws-limits.ts';
import { ONE_MACHINE } from '../lib/config/environment.ts';
import { sweepJobs } from '../lib/engine/line/sweep.ts';
import { createWaitingLines } from '../lib/engine/line/waiting-line.ts';
import {
  deadLetters,
  NOTHING_NEW,
  tellNewlyParked,
  tellNewTroubles,
  troublesOf,
} from '../lib/engine/operate/new-troubles.ts';
import { recordJobs, stateOfConnection } from '../lib/engine/operate/relay-state.ts';
import { createMovedNotices } from '../lib/notices/moved-notices.ts';
import { createOutageNotices } from '../lib/notices/outage-notices.ts';
import { createParkedNotices } from '../lib/notices/parked-notices.ts';
import { createShowJob } from '../lib/people/names.ts';
import { createSlackApi } from '../lib/platforms/slack/slack-api.ts';
import { beginRun, openStores, type Runtime } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { createBreakers } from '../lib/service/connection/breakers.ts';

/**
 * Every minute: queues jobs that would not continue by themselves, records the relay's state, and tells the contact's
 * channel about parked jobs.
 */
export function createHandler(runtime: Runtime) {
  const { config, environment, random, sleep, log, metrics } = runtime;
  const { table, jobs, queue, sqs, queueUrls, secrets, clock } = openStores(runtime);
  const budget = createBudget({ table, random, sleep, warn: log.warn });
  const breakers = createBreakers({ table, clock, random, warn: log.warn });
  const lines = createWaitingLines({ jobs, queue, budget, breakers, clock, sleep });
  const posting = config.slack &&
    config.contactChannel !== undefined && {
      table,
      clock,
      log,
      channel: config.contactChannel,
      slack: createSlackApi({ apiUrl: config.slack.apiUrl, secrets, fetch: runtime.fetch }),
      stage: environment.STAGE === ONE_MACHINE ? undefined : environment.STAGE,
    };
  const notices = posting && createParkedNotices({ ...posting, jobs, shown: createShowJob({ table, clock }) });
  const outages = posting && createOutageNotices(posting);
  const moved = posting && createMovedNotices({ ...posting, config });
  const teller = { table, metrics, log };
  const isCalled = async ({ connection, line }: { connection: string; line: string }) =>
    Object.hasOwn(config.connections, connection) && lines.advances(line, connection);
  return endingCalls(
    middy<ScheduleEvent>().handler(async () => {
      await beginRun('job-sweep', table, log);
      const swept = await sweepJobs({ jobs, queue, isCalled }, clock());
      for (const job of swept) log.info({ message: 'job queued by the sweep', jobId: job.id, entity: job.entity });
      const settled = await Promise.allSettled(
        Object.entries(config.connections).map(async ([name, { limits }]) => {
          await lines.moveOn({ name, limits });
          const { used, standstill, health } = await stateOfConnection(name, limits, { budget, table, clock });
          await tellNewTroubles(`connection ${name}`, troublesOf(name, standstill), teller);
          return { name, used, health };
        }),
      );
      // All connections at once, because an alarm takes the greatest value of a minute.
      for (const one of settled) if (one.status === 'fulfilled') metrics.record(one.value.used, one.value.name);
      await recordJobs({ table, jobs, metrics }, clock());
      metrics.record({ Heartbeat: 1, ...NOTHING_NEW });
      await tellNewlyParked(teller);
      await tellNewTroubles('dead', await deadLetters(sqs, queueUrls), teller);
      if (notices) await notices.tell();
      if (moved) await moved.tell();
      if (outages)
        for (const one of settled) if (one.status === 'fulfilled') await outages.tell(one.value.name, one.value.health);
      // A failure of one connection does not stop the others, but is reported.
      const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (errors.length > 0) throw new AggregateError(errors, `${errors.length} connections: ${errors.join('; ')}`);
      return { swept: swept.length };
    }),
  );
}
