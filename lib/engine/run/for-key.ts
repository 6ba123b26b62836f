import { digest } from '../../digest.ts';
import { type Claimed, createMade, freed, isClaimed, type Made } from '../../links/made.ts';
import type { Operation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { Interruption, NeedsOperator, RetryAt } from '../record/interruption.ts';
import { hasEnded, type Job } from '../record/job.ts';
import type { JobStore } from '../record/job-store.ts';
import type { Journal, OpenRequest } from '../record/journal.ts';
import type { Markers } from '../record/markers.ts';
import type { Created, Identity, JobSteps } from './job-steps.ts';
import { foundBy } from './searches.ts';

/** A job that waits for another one looks again after this long, and twice as long each time. */
const LOOK_AGAIN_MS = { first: 10_000, longest: 600_000 };

/** A request that has expired with the journal of its job: it is too old to be carried out. */
const EXPIRED = { url: '', timestampSeconds: 0, nonce: '', body: '', signedAt: 0, proof: '' };

/**
 * What the claim of another step has come to: the id of what it made, a request that may have been carried out, or
 * nothing. `expired` if its job may have sent one, and its journal is gone.
 */
type Fate = { id: Created['id'] } | { open: OpenRequest; isParked: boolean } | 'nothing' | 'expired';

/** What a step saw under a key, and how often it had been let go. */
type Seen = { turn: number; id: Created['id'] | null };

const foundStep = (name: string, key: string) => `${name}: found ${digest(key)}`;

/** What a job throws while another one makes what it needs. */
export function waitFor({ waits }: Job, by: string, calls: string, now: number): RetryAt {
  const before = waits?.newest.at(-1);
  const pause = LOOK_AGAIN_MS.first * 2 ** (before?.for === 'job' ? (before.looks ?? 1) : 0);
  const why = `${by} makes with ${calls} what this job needs`;
  return new RetryAt(now + Math.min(pause, LOOK_AGAIN_MS.longest), why, { waitsFor: 'job' });
}

/** What a job throws if something else has the name and key of its step. */
export const otherUse = (step: string, calls: string, made: Made): NeedsOperator =>
  new NeedsOperator(
    `the step '${step}' comes with ${calls}, and ${made.by?.job} with ${made.calls} for the same name and key; give one of them another name`,
  );

export interface ForKeyOptions {
  table: Table;
  jobs: Pick<JobStore, 'get'>;
  /** The journal of another job. */
  journal: (jobId: string) => Promise<Pick<Journal, 'entry' | 'openRequest'>>;
  markers: Markers;
  clock: () => number;
}

/**
 * What is made once for a key, by whichever job comes first. A job claims the item of the key before it sends anything,
 * and releases the claim if it sent nothing. It renews the claim in each run, so that it notices if another job has
 * taken it over. What a job has sent without a clear answer, the next one finds in its journal: it goes on with that
 * request as if it were its own, which means that it searches.
 */
export function createForKey(job: Job, steps: JobSteps, { table, jobs, journal, markers, clock }: ForKeyOptions) {
  const store = createMade(table);
  const thingOf = (name: string, key: string) => keys.made(job.connection, name, digest(key));
  const noteMade = (thing: Key, claimed: Made, { id, thing: of }: Created) =>
    store.change(thing, claimed, { ...claimed, turn: of?.turn ?? claimed.turn, id });

  /**
   * @param key its digest
   * @throws {RetryAt} while another job makes it
   */
  async function fateOf({ by: { job: id, step }, calls, turn }: Claimed, key: string): Promise<Fate> {
    // The step may have had another key in a later run, or be about what was let go since.
    const isThis = (thing: Created['thing']) => !thing || (thing.key === key && thing.turn === turn);
    const isMe = id === job.id;
    const holder = isMe ? job : await jobs.get(id);
    const kept = isMe ? steps.journal : await journal(id);
    const { id: made, thing } = Object(kept.entry(step)?.result) as Partial<Created>;
    if (made !== undefined && isThis(thing)) return { id: made };
    const last = kept.openRequest(step);
    const open = isThis(last?.thing) ? last : undefined;
    // No journal tells whether a message was posted.
    const mayBeMade = open || holder?.status === 'running' || !operations.has(calls);
    if (!isMe && holder && !hasEnded(holder) && mayBeMade) {
      throw waitFor(job, id, calls, clock());
    }
    if (open) return { open, isParked: holder?.status === 'parked' };
    return holder ? 'nothing' : 'expired';
  }

  /**
   * Goes on with a request of another step. Of two, the later one counts: the decision of a person about the earlier says
   * nothing about it.
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

  /** @returns the thing, or the claim of this step, written in this run */
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

  /** Makes the thing under a claim, and notes that it is made. */
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

  /** What exists, once no job is creating it. @param step in which this job makes what it takes over */
  async function current(step: string, name: string, key: string): Promise<Made> {
    const thing = thingOf(name, key);
    for (;;) {
      const made = await store.read(thing);
      const fate = isClaimed(made) ? await fateOf(made, digest(key)) : 'nothing';
      const operation = operations.get(made.calls ?? '');
      if (typeof fate === 'string' || !operation) {
        // What this job took over is settled.
        if (steps.journal.openRequest(step)) await steps.journal.dropRequest(step);
        // A message may have been posted.
        return isClaimed(made) && !operation ? { ...made, id: '' } : made;
      }
      if ('id' in fate) {
        await store.change(thing, made, { ...made, id: fate.id });
        continue;
      }
      // A person says that it was not made. The next `create` searches once more.
      if (fate.open.again) return made;
      const claimed = await claim(thing, digest(key), step, operation);
      const open = steps.journal.openRequest(step);
      if (claimed.id !== undefined || open?.again) continue;
      // With an open request, this only searches.
      if (open) await make(thing, claimed, () => steps.create(step, operation, {}));
      else await store.change(thing, claimed, freed(claimed));
    }
  }

  /** What there is of a key, as the first run of the step saw it. @param before what an earlier step of the job saw */
  async function look(step: string, name: string, key: string, before?: Seen): Promise<Seen> {
    const now = async () => before ?? (await current(`${step}: taken over`, name, key));
    const { turn, id = null } = steps.isDone(step) ? { turn: 0 } : await now();
    return steps.read(step, 'what was made', async () => ({ turn, id }));
  }

  /** What `found` and `create` of this job came to; of two, the later one. */
  function seen(name: string, key: string): Seen | undefined {
    const [found, { id, thing }] = [foundStep(name, key), name].map((step) =>
      Object(steps.journal.entry(step)?.result),
    );
    const created = thing?.key === digest(key) && { turn: thing.turn, id };
    return [found, created].filter((one) => one.id != null).sort((a, b) => b.turn - a.turn)[0];
  }

  return {
    /** @param create carries out the step, with what the thing is found by */
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
        // A person said what was made, or an earlier run stopped before it noted it.
        const isMine = isClaimed(made) && made.by.job === job.id && made.by.step === step;
        // Code before this made it without a key.
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
        // The object that it belongs to has been released since.
        const open = steps.journal.openRequest(step);
        if (open?.thing && open.thing.turn !== turn) await steps.journal.dropRequest(step);
        return make(thing, made, async () => create(await identityAt(turn)));
      }
      await steps.read(step, operation.name, async (): Promise<Created> => {
        return { id, sent: {}, thing: { key: digest(key), turn } };
      });
      // The step is done, so nothing of it stays open.
      return (await create()).id;
    },
    async found(name: string, key: string): Promise<Created['id'] | undefined> {
      return (await look(foundStep(name, key), name, key)).id || undefined;
    },
    /** Ends the thing that this job has seen, and no later one. */
    async letGo(name: string, key: string): Promise<void> {
      const { turn, id } = await look(`${name}: let go ${digest(key)}`, name, key, seen(name, key));
      if (id === null) return;
      const thing = thingOf(name, key);
      for (;;) {
        const made = await store.read(thing);
        // The message of a newer event is not over.
        if (made.turn !== turn || (made.newest ?? 0) > job.createdAt) return;
        if (await store.change(thing, made, { ...freed(made), turn: turn + 1 })) return;
      }
    },
  };
}
