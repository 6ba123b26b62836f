import { digest } from '../../digest.ts';
import { type Claimed, createMade, freed, isClaimed, type Made } from '../../links/made.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { Interruption, NeedsOperator, RetryAt } from '../record/interruption.ts';
import { hasEnded, type Job } from '../record/job.ts';
import { type JobStore, LeaseLost } from '../record/job-store.ts';
import type { Journal, OpenRequest } from '../record/journal.ts';
import type { Markers } from '../record/markers.ts';
import type { Created, Identity, JobSteps } from './job-steps.ts';
import { foundBy } from './searches.ts';

/** How long a job that waits for another job pauses. The pause doubles each time. */
const LOOK_AGAIN_MS = { first: 10_000, longest: 600_000 };

/** Stands for a request whose journal has expired. The service no longer accepts such an old request. */
const EXPIRED = { url: '', timestampSeconds: 0, nonce: '', body: '', signedAt: 0, proof: '' };

/**
 * The result of another step with its claim: the id of the object that it created, a request that may have been carried
 * out, or nothing. `expired` if its job may have sent a request, but its journal is gone.
 */
type Fate = { id: Created['id'] } | { open: OpenRequest; isParked: boolean } | 'nothing' | 'expired';

/** The object that a step found under a key, and how often the key had been released by then. */
type Seen = { turn: number; id: Created['id'] | null };

const foundStep = (name: string, key: string) => `${name}: found ${digest(key)}`;

/** Returns the wait of a job while another job creates what it needs. */
export function waitFor({ waits }: Job, by: string, calls: string, now: number): RetryAt {
  const before = waits?.newest.at(-1);
  const pause = LOOK_AGAIN_MS.first * 2 ** (before?.for === 'job' ? (before.looks ?? 1) : 0);
  const why = `${by} makes with ${calls} what this job needs`;
  return new RetryAt(now + Math.min(pause, LOOK_AGAIN_MS.longest), why, { waitsFor: 'job' });
}

/** Returns the error for a step whose name and key are used for something else. */
export const otherUse = (step: string, calls: string, made: Made): NeedsOperator =>
  new NeedsOperator(
    `the step '${step}' comes with ${calls}, and ${made.by?.job} with ${made.calls} for the same name and key; give one of them another name`,
  );

export interface ForKeyOptions {
  table: Table;
  jobs: Pick<JobStore, 'get'>;
  /** Opens the journal of another job. */
  journal: (jobId: string) => Promise<Pick<Journal, 'entry' | 'openRequest'>>;
  markers: Markers;
  clock: () => number;
}

/**
 * Creates each thing once per key, by whichever job comes first. A job claims the item of the key before it sends
 * anything, and releases the claim if it sent nothing. It renews the claim in each run, to notice if another job has
 * taken it over. If a job got no clear answer, the next job finds that request in its journal, takes it over, and
 * searches for the object.
 */
export function createForKey(job: Job, steps: JobSteps, { table, jobs, journal, markers, clock }: ForKeyOptions) {
  const store = createMade(table);
  const thingOf = (name: string, key: string) => keys.made(job.connection, name, digest(key));
  const noteMade = (thing: Key, claimed: Made, { id, thing: of }: Created) =>
    store.change(thing, claimed, { ...claimed, turn: of?.turn ?? claimed.turn, id });

  /**
   * Finds out what the claim's step did.
   * @param key the digest of the key
   * @throws {RetryAt} while the other job is creating the object
   * @throws {LeaseLost}
   */
  async function fateOf({ by: { job: id, step }, calls, turn }: Claimed, key: string): Promise<Fate> {
    // The step may have got another key in a later run, or its result may be from before the key was released.
    const isThis = (thing: Created['thing']) => !thing || (thing.key === key && thing.turn === turn);
    const isMe = id === job.id;
    const holder = await jobs.get(id);
    // A later run of this job may have claimed the key and sent the request, which is not in this run's journal.
    if (isMe && holder?.lease?.owner !== job.lease?.owner) throw new LeaseLost(id);
    const kept = isMe ? steps.journal : await journal(id);
    const { id: made, thing } = Object(kept.entry(step)?.result) as Partial<Created>;
    if (made !== undefined && isThis(thing)) return { id: made };
    const last = kept.openRequest(step);
    const open = isThis(last?.thing) ? last : undefined;
    // For a message, no journal says whether it was posted.
    const mayBeMade = open || holder?.status === 'running' || !operations.has(calls);
    if (!isMe && holder && !hasEnded(holder) && mayBeMade) {
      throw waitFor(job, id, calls, clock());
    }
    if (open) return { open, isParked: holder?.status === 'parked' };
    return holder ? 'nothing' : 'expired';
  }

  /**
   * Takes over the request of another step. If this step already has a request, the later one of the two counts,
   * because a person's decision about the earlier one does not cover the later one.
   * @throws {NeedsOperator} if a person has to decide about the other job
   */
  async function inherit(step: string, { by }: Claimed, open: OpenRequest, isParked: boolean): Promise<void> {
    if (!open.found && isParked && !open.again)
      throw new NeedsOperator(
        `${by.job} may have carried out ${open.operation} for the same key, and the relay cannot search for it. Decide with npx partner-relay resolve ${by.job}, then replay this job`,
      );
    const own = steps.journal.openRequest(step);
    if (own && own.request.signedAt >= open.request.signedAt) return;
    await steps.journal.keepRequest(step, { ...open, searches: 0, lookFrom: clock() });
  }

  /**
   * Claims the key for this step. @returns the thing if it exists, or else the claim of this step, written in this run
   */
  async function claim(
    thing: Key,
    key: string,
    step: string,
    { name: calls }: Operation,
    expired?: (turn: number) => Promise<OpenRequest>,
  ): Promise<Made> {
    for (;;) {
      const made = await store.read(thing);
      const fate = isClaimed(made) ? await fateOf(made, key) : 'nothing';
      const isFree = made.id === undefined && fate === 'nothing';
      if (!isFree && made.calls !== calls) throw otherUse(step, calls, made);
      if (made.id !== undefined) return made;
      if (isClaimed(made)) {
        if (typeof fate === 'object' && 'id' in fate) {
          await store.change(thing, made, { ...made, id: fate.id });
          continue;
        }
        if (fate === 'expired' && expired) await inherit(step, made, await expired(made.turn), false);
        if (typeof fate === 'object') await inherit(step, made, fate.open, fate.isParked);
      }
      const mine = await store.change(thing, made, { ...made, calls, by: { job: job.id, step } });
      if (mine) return mine;
    }
  }

  /** Creates the thing under a claim, and stores its id. */
  async function make(thing: Key, claimed: Made, create: () => Promise<Created>): Promise<Created['id']> {
    const step = claimed.by?.step ?? '';
    try {
      const created = await create();
      await noteMade(thing, claimed, created);
      return created.id;
    } catch (error) {
      const isUnsent = error instanceof Interruption && !steps.journal.openRequest(step);
      if (isUnsent) await store.change(thing, claimed, freed(claimed));
      throw error;
    }
  }

  /**
   * Returns what exists under a key, after no job is creating it. @param step the name under which this job continues
   * another job's creation
   */
  async function current(step: string, name: string, key: string): Promise<Made> {
    const thing = thingOf(name, key);
    for (;;) {
      const made = await store.read(thing);
      const fate = isClaimed(made) ? await fateOf(made, digest(key)) : 'nothing';
      const operation = operations.get(made.calls ?? '');
      if (typeof fate === 'string' || !operation) {
        // The request that this job took over is settled.
        if (steps.journal.openRequest(step)) await steps.journal.dropRequest(step);
        // The claim of a message may mean that it was posted.
        return isClaimed(made) && !operation ? { ...made, id: '' } : made;
      }
      if ('id' in fate) {
        await store.change(thing, made, { ...made, id: fate.id });
        continue;
      }
      // A person decided that it was not created. The next `create` searches once more.
      if (fate.open.again) return made;
      const claimed = await claim(thing, digest(key), step, operation);
      const open = steps.journal.openRequest(step);
      if (claimed.id !== undefined || open?.again) continue;
      // With an open request, `create` only searches.
      if (open) await make(thing, claimed, () => steps.create(step, operation, {}));
      else await store.change(thing, claimed, freed(claimed));
    }
  }

  /**
   * Reads what exists under a key, and keeps the result of the step's first run. @param before what an earlier step of
   * the job saw
   */
  async function look(step: string, name: string, key: string, before?: Seen): Promise<Seen> {
    const now = async () => before ?? (await current(`${step}: taken over`, name, key));
    const { turn, id = null } = steps.isDone(step) ? { turn: 0 } : await now();
    return steps.read(step, 'what was made', async () => ({ turn, id }));
  }

  /** Returns the result of this job's `found` or `create`, or the later one of both. */
  function seen(name: string, key: string): Seen | undefined {
    const [found, { id, thing }] = [foundStep(name, key), name].map((step) =>
      Object(steps.journal.entry(step)?.result),
    );
    const created = thing?.key === digest(key) && { turn: thing.turn, id };
    return [found, created].filter((one) => one.id != null).sort((a, b) => b.turn - a.turn)[0];
  }

  return {
    /** @param create carries out the step, with the identity by which the thing can be found */
    async create(
      step: string,
      key: string,
      operation: Operation,
      payload: object,
      create: (identity?: Identity) => Promise<Created>,
    ): Promise<Created['id']> {
      const thing = thingOf(step, key);
      const identityAt = async (turn: number): Promise<Identity> => ({
        marker: operation.found && (await markers.of('own', job.connection, step, key, turn)),
        thing: { key: digest(key), turn },
        next: () => identityAt(turn + 1),
      });
      if (steps.isDone(step)) {
        const created = await create();
        const made = await store.read(thing);
        // The claim remains if a person entered the id, or if an earlier run stopped before it stored the id.
        const isMine = isClaimed(made) && made.by.job === job.id && made.by.step === step;
        // Earlier code created it without a key.
        const isFirst = !created.thing && made.writes === undefined;
        const claimed = { ...made, calls: operation.name, by: { job: job.id, step } };
        if (isMine || isFirst) await noteMade(thing, claimed, created);
        return created.id;
      }
      const before = steps.journal.openRequest(step)?.thing;
      if (before && before.key !== digest(key))
        throw new NeedsOperator(`the step '${step}' had another key in an earlier run; give a new step a new name`);
      const made = await claim(thing, digest(key), step, operation, async (turn) => {
        const { marker, thing } = await identityAt(turn);
        const found = foundBy(operation, payload, marker);
        return { request: EXPIRED, operation: operation.name, sent: {}, found, thing, searches: 0 };
      });
      const { id, turn } = made;
      if (id === undefined) {
        // The open request is about an object that has been released since.
        const open = steps.journal.openRequest(step);
        if (open?.thing && open.thing.turn !== turn) await steps.journal.dropRequest(step);
        return make(thing, made, async () => create(await identityAt(turn)));
      }
      await steps.read(step, operation.name, async (): Promise<Created> => {
        return { id, sent: {}, thing: { key: digest(key), turn } };
      });
      // The step is done, so `create` only drops its open request.
      return (await create()).id;
    },
    async found(name: string, key: string): Promise<Created['id'] | undefined> {
      return (await look(foundStep(name, key), name, key)).id || undefined;
    },
    /** Releases the thing that this job has seen. Leaves a later one alone. */
    async letGo(name: string, key: string): Promise<void> {
      const { turn, id } = await look(`${name}: let go ${digest(key)}`, name, key, seen(name, key));
      if (id === null) return;
      const thing = thingOf(name, key);
      for (;;) {
        const made = await store.read(thing);
        // A newer event has changed the message, which is therefore still in use.
        if (made.turn !== turn || (made.newest ?? 0) > job.createdAt) return;
        if (await store.change(thing, made, { ...freed(made), turn: turn + 1 })) return;
      }
    },
  };
}
