import { createContext } from '../../lib/automations/context.ts';
import { connectionSettings } from '../../lib/config/settings.ts';
import { openWaitingLines } from '../../lib/engine/line/waiting-line.ts';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { discardJob, replayJob } from '../../lib/engine/operate/resume.ts';
import { createVerifyCreated } from '../../lib/engine/operate/verify-created.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import { createLinks } from '../../lib/links/links.ts';
import { repositoryToBackfill, storeBackfill } from '../../lib/operators/backfill.ts';
import { decideLink, type LinkDecision } from '../../lib/operators/decide-link.ts';
import type { Runtime, Stores } from '../../lib/runtime.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { budgetIdOf } from '../../lib/service/connection/connection.ts';
import { callWithinBudget } from '../../lib/service/connection/operator-calls.ts';
import { createPartnerClient } from '../../lib/service/partner/client.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { SERVICE_URL } from './service.ts';

/** A command of the command line, on another machine. */
export interface Command {
  runtime: Runtime;
  stores: Stores;
}

const BY = 'alice';

function verifying({ runtime, stores }: Command) {
  const { config, fetch, clock, random, sleep } = runtime;
  const partner = { baseUrl: SERVICE_URL, ...defaultKey };
  const client = createPartnerClient({ ...partner, fetch, clock });
  const budgetId = async () => budgetIdOf(partner);
  const budget = createBudget({
    table: stores.table,
    random,
    sleep,
    keyHolder: () => ({ budgetId, suspectKey() {} }),
  });
  return createVerifyCreated(config, async (connection) => {
    const { limits } = config.connections[connection] ?? { limits: { perMinute: 0, perDay: 0 } };
    return callWithinBudget({ client, budget, connection, limits, clock: stores.clock, sleep, tell() {} });
  });
}

/** @param answer to the job's question */
export async function replay({ runtime: { clock }, stores }: Command, job: Job, answer?: string): Promise<void> {
  await replayJob(job, { by: BY, reason: answer }, { ...stores, clock });
}

export async function resolve(command: Command, job: Job, decided: 'again' | 'search' | { done: string }) {
  const { runtime, stores } = command;
  const resolution = typeof decided === 'string' ? decided : { ...decided, verify: verifying(command) };
  await resolveJob(job, resolution, { ...stores, clock: runtime.clock, by: BY });
}

export async function discard({ runtime: { clock }, stores }: Command, job: Job): Promise<void> {
  await discardJob(job, { by: BY, reason: 'not wanted' }, { ...stores, clock });
}

export async function link(
  { runtime, stores }: Command,
  name: string,
  decided: { set: string } | 'clear',
): Promise<void> {
  const entity = (await createLinks(stores.table, stores.clock).named(name)) ?? '';
  const decision: LinkDecision = decided === 'clear' ? decided : { ...decided, verify: verifying({ runtime, stores }) };
  const { config, clock } = runtime;
  await decideLink({ name, entity }, decision, { ...stores, config, by: BY, clock });
}

export async function backfill({ runtime, stores }: Command, repository: string): Promise<void> {
  const context = createContext(runtime, stores);
  const sleep = () => Promise.reject(new Error('GitHub wants a pause'));
  const { limits } = connectionSettings(runtime.config, repositoryToBackfill(runtime.config, repository).connection);
  const options = { comment: false, limits, lines: openWaitingLines(stores, { sleep: async () => {} }), sleep };
  await storeBackfill(repositoryToBackfill(runtime.config, repository), { state: 'all' }, context, options);
}
