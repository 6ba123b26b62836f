import { createAutomations } from '../automations/automations.ts';
import { createContext } from '../automations/context.ts';
import type { RelayConfig } from '../config/schema.ts';
import { Interruption, NeedsOperator, NotDone, RetryAt } from '../engine/record/interruption.ts';
import type { Job, JobStatus } from '../engine/record/job.ts';
import { type Journal, openJournal, type StepEntry } from '../engine/record/journal.ts';
import type { Privacy } from '../engine/record/privacy.ts';
import { createSteps } from '../engine/run/job-steps.ts';
import { entryOf, type Once } from '../engine/run/once.ts';
import { createReplySteps } from '../engine/run/reply-steps.ts';
import { isOfEngine } from '../engine/run/run-automation.ts';
import { createPeople } from '../people/people.ts';
import type { Stores } from '../runtime.ts';
import { createConnections } from '../service/connection/connection.ts';
import { createLearned } from '../service/connection/learned.ts';
import { operations } from '../service/partner/operations/operations.ts';
import type { Key } from '../state/table/keys.ts';
import type { Item, Table } from '../state/table/table.ts';
import { UnreadableItem } from '../state/table/unreadable-item.ts';
import { messageOf } from '../text.ts';
import type { CustomAutomations } from '../triggers/custom-automation.ts';

const UNDER_WAY: readonly JobStatus[] = ['queued', 'running', 'waiting', 'parked'];
/** How many of an automation's newest jobs are used to count the calls of an event. */
const NEWEST = 5;
const MOST_JOBS = 1_000;

/** A job under way, and what happens to it when this version and the folder's code are deployed. */
export interface PlannedJob {
  id: string;
  summary: string;
  /** `other` if a step would be repeated, skipped or renamed; `unknown` if the journal does not show it. */
  becomes: 'the same' | 'other' | 'unknown';
  /** One sentence. */
  says: string;
}

/** Compares this version and the folder's automations with the jobs that a relay has under way. */
export interface JobsPlan {
  jobs: PlannedJob[];
  /** Automations without any job so far. */
  unused: string[];
  /** For each automation, the most calls to the service that one of its newest jobs made. */
  calls: ReadonlyMap<string, number>;
}

/**
 * Runs unfinished jobs from their journals, with this version and the folder's code. Writes and sends nothing: finished
 * steps return their results from the journal, and the first unfinished step ends the run.
 */
export async function planJobs(
  custom: CustomAutomations,
  config: RelayConfig,
  stores: Stores,
  stage: string,
): Promise<JobsPlan> {
  const { table, jobs, secrets, clock } = stores;
  const automationsOn = (dry: Table) => {
    const runtime = { config, custom, clock, fetch: notReached, log: console, environment: { STAGE: stage } };
    const context = createContext(runtime, { ...stores, table: dry, secrets: { ...secrets, current: notReached } });
    // Whether there is a token is a secret. With one, the journal has what Slack said about people.
    const slack = config.slack && { isThere: async () => true, call: notReached };
    return createAutomations({
      ...context,
      people: createPeople({ config, table: dry, slack, clock }),
      // Secrets are needed only for unfinished steps.
      markers: { of: async () => '' },
      comments: { ...context.comments, for: async () => ({ find: notReached, make: notReached, read: notReached }) },
    });
  };
  const known = automationsOn(unwritten(table));
  const connections = createConnections({ config, secrets, clock, fetch: notReached, random: () => new Uint8Array() });
  const names = new Set(custom.list.map(({ name }) => name));
  const list = async (statuses: readonly JobStatus[], limit: number) =>
    (await Promise.all(statuses.map((one) => jobs.list(one, { limit, newestFirst: true })))).flat();
  const underWay = await list(UNDER_WAY, MOST_JOBS);
  const ended = await list(['succeeded', 'not-done'], MOST_JOBS);
  return {
    jobs: await Promise.all(underWay.map(planned)),
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

  async function planned(job: Job): Promise<PlannedJob> {
    const { id } = job;
    const summary = job.title ?? job.summary;
    const connection = connections(job.connection);
    if (!known.has(job.automation))
      return {
        id,
        summary,
        becomes: 'other',
        says: `cannot run without automations/${job.automation}.ts: restore the file, or discard the job`,
      };
    if (!connection) return { id, summary, becomes: 'other', says: `parks: there is no connection ${job.connection}` };
    const dry = unwritten(table);
    const journal = await openJournal(dry, id, clock).catch(asUnreadable);
    if (journal instanceof UnreadableItem) return { id, summary, becomes: 'other', says: `parks: ${journal.message}` };
    const { once, reached } = dryOnce(journal);
    const replies = createReplySteps(journal, clock, Number.POSITIVE_INFINITY, once, SEALED);
    const steps = createSteps({
      connection,
      learned: createLearned(dry, connection.name, clock),
      // An unfinished step ends the run before it reaches these.
      calls: { repeatable: notReached },
      takeShare: notReached,
      creating: notReached,
      journal,
      once,
      replies,
      as: () => ({ linked: notReached, read: sealed, change: sealed, write: sealed }),
      entitle: () => {},
    });
    const run = automationsOn(dry).get(job.automation)?.run(job, steps) ?? Promise.resolve();
    const stop: unknown = await run.then(() => undefined).catch((error: unknown) => error);
    const isReached = (step: string) => [...reached].some((one) => step === one || step.startsWith(`${one}: `));
    const isLeft = ({ status, step }: StepEntry) => status === 'done' && !isReached(step) && !isOfEngine(step);
    if (!names.has(job.automation)) return { id, summary, ...whatBecomesOfOurs(stop, job) };
    return { id, summary, ...whatBecomes(stop, journal.entries().filter(isLeft)) };
  }
}

function asUnreadable(error: unknown): UnreadableItem {
  if (error instanceof UnreadableItem) return error;
  throw error;
}

/** The first step that is not done in the journal. */
class FirstOpen extends Error {
  readonly step: string;
  readonly calls: string;
  constructor(step: string, calls: string) {
    super(`the step '${step}' is not done`);
    this.step = step;
    this.calls = calls;
  }
}

/** A step's result is sealed for the person who asked. */
class Sealed extends Error {}

const sealed = () => Promise.reject(new Sealed());
/** The run has reached something that a plan does not do. */
class NotInPlan extends Error {}

const notReached = () => Promise.reject(new NotInPlan('a plan carries out no step'));
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

/**
 * Built-in automations also read the relay's current state, so a run may skip steps that an earlier run needed. It is
 * enough that the run can read its input and each step.
 */
function whatBecomesOfOurs(stop: unknown, { status }: Job): Pick<PlannedJob, 'becomes' | 'says'> {
  const isExpected = stop instanceof Interruption && !(stop instanceof NeedsOperator);
  const goesOn = stop === undefined || isExpected || [FirstOpen, Sealed, NotInPlan].some((one) => stop instanceof one);
  // A parked job may park again for the same reason.
  if (goesOn || status === 'parked') return { becomes: 'the same', says: 'goes on' };
  // The policy for reading does not allow everything that a worker reads.
  if (stop instanceof Error && /AccessDenied/.test(stop.name))
    return { becomes: 'unknown', says: `reads something that you may not read: ${stop.message}` };
  return { becomes: 'other', says: `parks: ${messageOf(stop)}` };
}

/** @param left the finished steps that this code has not reached */
function whatBecomes(stop: unknown, left: readonly StepEntry[]): Pick<PlannedJob, 'becomes' | 'says'> {
  const names = left.map(({ step }) => `'${step}'`).join(', ');
  if (stop instanceof Sealed) {
    return {
      becomes: 'unknown',
      says: 'a step keeps something that is sealed for a person, so the plan ends there',
    };
  }
  if (stop instanceof FirstOpen) {
    const { step, calls } = stop;
    if (left.length === 0) return { becomes: 'the same', says: `goes on with the step '${step}'` };
    const renamed = left.find((entry) => entry.calls === calls);
    if (renamed) return { becomes: 'other', says: `repeats the step '${renamed.step}' (${calls}) as '${step}'` };
    return {
      becomes: 'unknown',
      says: `reaches the step '${step}' before these steps, which are done: ${names}; the job may skip them`,
    };
  }
  if (stop instanceof RetryAt) return { becomes: 'the same', says: stop.message };
  if (stop instanceof NotInPlan) return { becomes: 'unknown', says: `cannot be followed: ${stop.message}` };
  if (stop !== undefined && !(stop instanceof NotDone)) return { becomes: 'other', says: `parks: ${messageOf(stop)}` };
  if (left.length > 0) return { becomes: 'other', says: `ends, and skips ${names}, which is done` };
  return { becomes: 'the same', says: 'ends, with all of its steps done' };
}

/** More than any run writes, unless it waits for its own writes. */
const MOST_WRITES = 100;

/** Returns a table without writes. The run reads its own changes from memory. */
function unwritten(table: Table): Table {
  const put = new Map<string, Item | undefined>();
  const nameOf = ({ pk, sk }: Key) => JSON.stringify([pk, sk]);
  const reading = (get: Table['get']) => async (key: Key) => (put.has(nameOf(key)) ? put.get(nameOf(key)) : get(key));
  let writes = 0;
  const count = () => {
    if (++writes > MOST_WRITES) throw new NotInPlan('a plan writes nothing');
  };
  const keep = (key: Key, item?: Item) => {
    count();
    put.set(nameOf(key), item);
    return true;
  };
  return {
    ...table,
    get: reading(table.get),
    getEvenExpired: reading(table.getEvenExpired),
    put: async (item) => keep(item, item),
    update: async () => {
      count();
      return {};
    },
    delete: async (key) => keep(key),
  };
}
