import { CALLED_AHEAD_MS } from '../../lib/service/budget/budget.ts';
import { readState } from '../../lib/service/budget/budget-item.ts';
import type { Lane } from '../../lib/service/budget/lanes.ts';
import { slotTime } from '../../lib/service/budget/slot-time.ts';
import type { Limits } from '../../lib/service/budget/window.ts';
import { readBreakers, WHOLE } from '../../lib/service/connection/breaker-item.ts';
import { type Key, keys } from '../../lib/state/table/keys.ts';
import type { Item } from '../../lib/state/table/table.ts';
import type { Attributes } from '../../local/world/expressions.ts';

/** A moment at which a line with jobs had no job on its way to a worker. */
export interface Stranded {
  /** Virtual time. */
  at: number;
  connection: string;
}

/** The last slots of a day come and go, because other jobs give back theirs. The sweep calls jobs for them. */
const SPARE_SLOTS = 5;

/** The jobs of one connection. */
interface Jobs {
  standing: Map<string, Lane>;
  /** Jobs that were called from the line, until their run has put them back or ended them. */
  called: Set<string>;
  /** Jobs that a worker has claimed or put into the line, until it has finished their message. */
  inHand: Set<string>;
}

/**
 * Watches the promise of docs/decisions/0015-waiting-line.md: if a line has jobs and a slot to come, there is always a
 * called job, or a worker with a job, whose run moves the line; with or without messages in the queues. Two exceptions
 * are left to the sweep: a line whose operation or connection fails waits for a probe, and no slot comes within two
 * minutes if the calls of the day are used up.
 */
export class LineWatch {
  readonly stranded: Stranded[] = [];
  readonly #connections = new Map<string, Jobs>();
  readonly #connectionOf = new Map<string, string>();
  readonly #limits: Limits;
  readonly #read: (key: Key) => Item | undefined;

  /** @param read reads an item as it is now, at no cost */
  constructor(limits: Limits, read: (key: Key) => Item | undefined) {
    this.#limits = limits;
    this.#read = read;
  }

  /** Notes a written record. */
  wrote({ sk, id, connection, status, lane, line, slotAt }: Attributes): void {
    if (sk?.S !== 'job' || id?.S === undefined || connection?.S === undefined) return;
    const jobs = this.#jobsOf(connection.S);
    const isNew = !this.#connectionOf.has(id.S);
    this.#connectionOf.set(id.S, connection.S);
    const isInLine = line?.S?.split('#').length === 2 && (status?.S === 'waiting' || status?.S === 'running');
    const hasStood = jobs.standing.delete(id.S);
    jobs.called.delete(id.S);
    if (isInLine && slotAt !== undefined) jobs.called.add(id.S);
    else if (isInLine && status?.S === 'waiting') jobs.standing.set(id.S, lane?.S as Lane);
    const isPutThere = jobs.standing.has(id.S) && !hasStood && !isNew;
    if (status?.S === 'running' || isPutThere) jobs.inHand.add(id.S);
  }

  /** Notes that a worker has finished its message. */
  runEnded(jobId: string, now: number, at: number): void {
    const connection = this.#connectionOf.get(jobId);
    if (connection === undefined) return;
    const { standing, called, inHand } = this.#jobsOf(connection);
    inHand.delete(jobId);
    if (called.size > 0 || inHand.size > 0 || this.#isDown(connection, now)) return;
    const standingLanes = new Set(standing.values());
    if ([...standingLanes].some((lane) => this.#slotOpensSoon(connection, lane, now))) {
      this.stranded.push({ at, connection });
    }
  }

  #isDown(connection: string, now: number): boolean {
    const { breakers } = readBreakers(this.#read(keys.breaker(connection)), now);
    return (breakers[WHOLE]?.until ?? 0) > 0;
  }

  #slotOpensSoon(connection: string, lane: Lane, now: number): boolean {
    const { budget } = this.#read(keys.budgetOf(connection)) ?? {};
    if (typeof budget !== 'string') return true;
    const { state } = readState(this.#read(keys.budget(budget)), now);
    return slotTime(state, this.#limits, lane, SPARE_SLOTS, now).at <= now + CALLED_AHEAD_MS;
  }

  #jobsOf(connection: string): Jobs {
    const jobs = this.#connections.get(connection) ?? { standing: new Map(), called: new Set(), inHand: new Set() };
    this.#connections.set(connection, jobs);
    return jobs;
  }
}
