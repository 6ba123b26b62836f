import { createAutomations } from '../automations/automations.ts';
import { createContext } from '../automations/context.ts';
import type { RelayConfig } from '../config/schema.ts';
import { NotDone, RetryAt } from '../engine/record/interruption.ts';
import type { Job, JobStatus } from '../engine/record/job.ts';
import { type Journal, openJournal, type StepEntry } from '../engine/record/journal.ts';
import type { Privacy } from '../engine/record/privacy.ts';
import { entryOf, type Once } from '../engine/run/once.ts';
import { createReplySteps } from '../engine/run/reply-steps.ts';
import { isOfEngine } from '../engine/run/run-automation.ts';
import { createSteps } from '../engine/run/steps.ts';
import type { Stores } from '../runtime.ts';
import { createConnections } from '../service/connection/connection.ts';
import { createLearned } from '../service/connection/learned.ts';
import { operations } from '../service/partner/operations/operations.ts';
import type { Table } from '../state/table/table.ts';
import { messageOf } from '../text.ts';
import type { OwnAutomations } from '../triggers/own-automation.ts';

const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting', 'parked'];
/** The jobs that the calls of an event are counted from. */
const NEWEST = 5;
const MOST_JOBS = 1_000;

/** What becomes of a job under way once the code in the folder is deployed. */
export interface PlannedOwnJob {
  id: string;
  summary: string;
  /** `other` if a step would be repeated, skipped or renamed; `unknown` where the journal cannot tell. */
  becomes: 'the same' | 'other' | 'unknown';
  /** In one sentence. */
  says: string;
}

/** The automations of a team in the folder, against what a relay has under way. */
export interface OwnPlan {
  jobs: PlannedOwnJob[];
  /** The names of automations with jobs under way, and without a file. */
  removed: string[];
  /** The names of those without any job so far. */
  unused: string[];
  /** How many calls of the service each of the newest jobs of an automation made at most, by its name. */
  calls: ReadonlyMap<string, number>;
}

/**
 * Runs the journals of unfinished jobs against the code in the folder. Nothing is written or sent: a step that is done
 * comes back from the journal, and the first one that is not ends the run.
 */
export async function planOwn(
  own: OwnAutomations,
  config: RelayConfig,
  stores: Stores,
  stage: string,
): Promise<OwnPlan> {
  const { table, jobs, secrets, clock } = stores;
  const fetch = () => Promise.reject(new Error('a plan sends nothing'));
  const dry: Stores = { ...stores, table: unwritten(table) };
  const context = createContext({ config, own, clock, fetch, log: console, environment: { STAGE: stage } }, dry);
  const automations = createAutomations({
    ...context,
    // What needs a secret is for steps that are not done.
    markers: { of: async () => '' },
    comments: { ...context.comments, for: async () => ({ find: notReached, make: notReached, read: notReached }) },
  });
  const connections = createConnections({ config, secrets, clock, fetch, random: () => new Uint8Array() });
  const names = new Set(own.list.map(({ name }) => name));
  const list = async (statuses: readonly JobStatus[], limit: number) =>
    (await Promise.all(statuses.map((one) => jobs.list(one, { limit, newestFirst: true })))).flat();
  const underWay = await list(UNDER_WAY, MOST_JOBS);
  const ended = await list(['succeeded', 'not-done'], MOST_JOBS);
  return {
    jobs: await Promise.all(underWay.filter(({ automation }) => names.has(automation)).map(planned)),
    removed: [...new Set(underWay.map(({ automation }) => automation))].filter((name) => !automations.has(name)),
    unused: [...names].filter((name) => ![...underWay, ...ended].some(({ automation }) => automation === name)),
    calls: new Map((await Promise.all([...names].map(mostCalls))).flat()),
  };

  async function mostCalls(name: string): Promise<[string, number][]> {
    const newest = ended.filter(({ automation }) => automation === name).slice(0, NEWEST);
    const counts = await Promise.all(
      newest.map(async ({ id }) => {
        const entries = (await openJournal(table, id, clock)).entries();
        const ofService = entries.filter(({ calls }) => operations.has(calls));
        return ofService.reduce((sum, { sends }) => sum + (sends ? sends.newest.length + sends.older : 1), 0);
      }),
    );
    return counts.length === 0 ? [] : [[name, Math.max(...counts)]];
  }

  async function planned(job: Job): Promise<PlannedOwnJob> {
    const { id, summary } = job;
    const connection = connections(job.connection);
    if (!connection) return { id, summary, becomes: 'other', says: `parks: there is no connection ${job.connection}` };
    const journal = await openJournal(table, id, clock);
    const { once, reached } = dryOnce(journal);
    const replies = createReplySteps(journal, clock, Number.POSITIVE_INFINITY, once, SEALED);
    const steps = createSteps({
      connection,
      learned: createLearned(dry.table, connection.name, clock),
      // A step that is not done ends the run before it comes to these.
      calls: { repeatable: notReached },
      takeShare: notReached,
      creating: notReached,
      journal,
      once,
      replies,
      tools: { as: () => ({ linked: notReached, read: sealed, make: sealed }) },
    });
    const run = automations.get(job.automation)?.run(job, steps) ?? Promise.resolve();
    const stop: unknown = await run.then(() => undefined).catch((error: unknown) => error);
    const isLeft = (entry: StepEntry) => entry.status === 'done' && !reached.has(entry.step) && !isOfEngine(entry.step);
    return { id, summary, ...whatBecomes(stop, journal.entries().filter(isLeft)) };
  }
}

/** The first step that the journal does not have as done. */
class FirstOpen extends Error {
  readonly step: string;
  readonly calls: string;
  constructor(step: string, calls: string) {
    super(`the step '${step}' is not done`);
    this.step = step;
    this.calls = calls;
  }
}

/** Only the person who asked may read what a step keeps. */
class Sealed extends Error {}

const sealed = () => Promise.reject(new Sealed());
const notReached = () => Promise.reject(new Error('a plan carries out no step'));
const SEALED: Privacy = { seal: sealed, open: sealed, noteOf: messageOf, wasUsed: () => false };

function dryOnce(journal: Journal): { once: Once; reached: ReadonlySet<string> } {
  const reached = new Set<string>();
  const once: Once = {
    async run<Kept>(step: string, calls: string): Promise<Kept> {
      const known = entryOf(journal, step, calls);
      if (known?.status !== 'done') throw new FirstOpen(step, calls);
      reached.add(step);
      if (known.sealed !== undefined) throw new Sealed();
      return known.result as Kept;
    },
    write: notReached,
    unfinished: () => [],
  };
  return { once, reached };
}

/** @param left the steps that are done, and that this code has not come to */
function whatBecomes(stop: unknown, left: readonly StepEntry[]): Pick<PlannedOwnJob, 'becomes' | 'says'> {
  const names = left.map(({ step }) => `'${step}'`).join(', ');
  if (stop instanceof Sealed) {
    return {
      becomes: 'unknown',
      says: 'what a step keeps is sealed for a person, so what comes behind it is not known',
    };
  }
  if (stop instanceof FirstOpen) {
    const { step, calls } = stop;
    if (left.length === 0) return { becomes: 'the same', says: `goes on with the step '${step}'` };
    const renamed = left.find((entry) => entry.calls === calls);
    if (renamed) return { becomes: 'other', says: `repeats the step '${renamed.step}' (${calls}) as '${step}'` };
    return { becomes: 'unknown', says: `comes to the step '${step}' before ${names}, which is done; it may skip it` };
  }
  if (stop instanceof RetryAt) return { becomes: 'the same', says: stop.message };
  if (stop !== undefined && !(stop instanceof NotDone)) return { becomes: 'other', says: `parks: ${messageOf(stop)}` };
  if (left.length > 0) return { becomes: 'other', says: `ends, and skips ${names}, which is done` };
  return { becomes: 'the same', says: 'ends, with all of its steps done' };
}

/** A table that takes no writes, and says that it did. */
const unwritten = (table: Table): Table => ({
  ...table,
  put: async () => true,
  update: async () => ({}),
  delete: async () => true,
});
