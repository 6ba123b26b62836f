import { randomUUID } from 'node:crypto';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Item, Table } from '../../state/table/table.ts';
import { createBudgetIds, type KeyHolder } from './budget-ids.ts';
import { type BudgetState, readState, stateItem } from './budget-item.ts';
import type { Rank } from './slot-time.ts';
import { DAY } from './window.ts';

/** The budget cannot be read or written, so nothing may be sent. */
export class BudgetUnavailable extends Error {
  override readonly name = 'BudgetUnavailable';
  readonly connection: string;

  constructor(connection: string, cause: unknown) {
    super(`the budget of ${connection} cannot be read or written: ${String(cause)}`, { cause });
    this.connection = connection;
  }
}

const CONTENDED_TRIES = 30;
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS: Readonly<Record<Rank, number>> = {
  urgent: 120,
  interactive: 240,
  further: 1_000,
  background: 1_000,
  backfill: 1_000,
};
/** Nothing counts longer than a week. */
const KEPT_MS = 8 * DAY;

/** The change of a budget: it returns the answer, and whether it changed the state. */
export type Decide<T> = (state: BudgetState, now: number, id: string) => { answer: T; changed: boolean };

/** A change that rides on the next write of the budget. */
export interface Correction {
  correct: (state: BudgetState) => void;
  /** True if it gives capacity back. */
  frees: boolean;
}

export interface BudgetStoreOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Waits before a write is repeated that another worker was ahead of. */
  sleep: (ms: number) => Promise<unknown>;
  /** Who has the key of a connection, in processes that may read it. */
  keyHolder: (connection: string) => KeyHolder | undefined;
  /** Gets a line if a budget had impossible values. */
  warn: (line: object) => void;
}

interface ReadBudget {
  state: BudgetState;
  faults: string[];
  /** Without an item, or with one that was not written here, it is undefined. */
  written: string | undefined;
  exists: boolean;
}

/**
 * Keeps the state of each budget in one item. Every change is one conditional write. Callers name the connection whose
 * budget they mean, or the id of a budget that a slot was taken from.
 *
 * @throws {BudgetUnavailable} from each method
 */
export function createBudgetStore({ table, clock, random, sleep, keyHolder, warn }: BudgetStoreOptions) {
  const ids = createBudgetIds(table, clock, keyHolder);
  const corrections = new Map<string, Correction[]>();
  const seen = new Map<string, { state: BudgetState; at: number }>();
  const correctionsOf = (id: string) => corrections.get(id) ?? [];

  async function orUnavailable<T>(connection: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw new BudgetUnavailable(connection, error);
    }
  }

  async function readItem(id: string): Promise<ReadBudget> {
    // An expired item is in the way of a new one.
    const item: Item | undefined = await table.getEvenExpired(keys.budget(id));
    if (table.clock.isUncertain())
      throw new Error("this machine's clock is wrong, and the table answers too slowly to correct it");
    const { state, faults } = readState(item, clock());
    const { written } = item ?? {};
    return { state, faults, written: typeof written === 'string' ? written : undefined, exists: item !== undefined };
  }

  function write(id: string, { state, written: last, exists }: ReadBudget): Promise<boolean> {
    const item = {
      ...keys.budget(id),
      ...stateItem(state),
      written: randomUUID(),
      expiresAt: expiry(clock(), KEPT_MS),
    };
    if (!exists) return table.put(item, { expression: 'attribute_not_exists(#pk)' });
    return table.put(item, last === undefined ? undefined : { expression: '#written = :last', values: { last } });
  }

  /** Tries a change once. @returns undefined if another worker was faster */
  async function tryChange<T>(id: string, decide: Decide<T>): Promise<{ answer: T } | undefined> {
    const read = await readItem(id);
    const { state, faults } = read;
    const riding = correctionsOf(id);
    for (const { correct } of riding) correct(state);
    const { answer, changed } = decide(state, clock(), id);
    // What was left out must be written: it is left out relative to the time of reading.
    if (!changed && faults.length === 0) return { answer };
    // Another change of this process may read what this one has written before it knows that. It must not correct it again.
    corrections.delete(id);
    try {
      if (!(await write(id, read))) {
        changeLater(id, ...riding);
        return undefined;
      }
    } catch (error) {
      // It may have been carried out. A correction that frees capacity would then free that of another caller the next
      // time, so it is left out: the capacity is free again after a minute.
      changeLater(id, ...riding.filter(({ frees }) => !frees));
      throw error;
    }
    if (faults.length > 0)
      warn({ message: 'the budget had impossible values, which were left out', budget: id, faults });
    return { answer };
  }

  /** Changes the budget with the next write, or with `flush`. If the process ends before that, the change is lost. */
  function changeLater(id: string, ...some: readonly Correction[]): void {
    corrections.set(id, [...correctionsOf(id), ...some]);
  }

  async function change<T>(connection: string, id: string, rank: Rank, decide: Decide<T>): Promise<T> {
    for (let tries = 1; tries <= CONTENDED_TRIES; tries++) {
      const done = await orUnavailable(connection, () => tryChange(id, decide));
      if (done) return done.answer;
      await sleep(random() * Math.min(LONGEST_PAUSE_MS[rank], FIRST_PAUSE_MS * 2 ** tries));
    }
    throw new BudgetUnavailable(connection, new Error(`other workers were faster ${CONTENDED_TRIES} times in a row`));
  }

  const idOf = (connection: string) => orUnavailable(connection, () => ids.of(connection));

  return {
    idOf,
    /** @param maxAgeMs how old a state may be that this process has read before; without it, the state is read now */
    async read(connection: string, maxAgeMs = 0): Promise<BudgetState> {
      const id = await idOf(connection);
      const last = seen.get(id);
      if (last && last.at + maxAgeMs > clock()) return last.state;
      const { state } = await orUnavailable(connection, () => readItem(id));
      seen.set(id, { state, at: clock() });
      return state;
    },
    /** Reads the state and lets `decide` change it, again and again until no other worker was faster. */
    change: async <T>(connection: string, rank: Rank, decide: Decide<T>) =>
      change(connection, await idOf(connection), rank, decide),
    changeById: <T>(id: string, rank: Rank, decide: Decide<T>) => change(id, id, rank, decide),
    /** Writes what is to be changed later, unless another worker is faster: then the next write does it. */
    async flush(connection: string): Promise<void> {
      const id = await idOf(connection);
      if (correctionsOf(id).length === 0) return;
      await orUnavailable(connection, () => tryChange(id, () => ({ answer: undefined, changed: true })));
    },
    changeLater,
  };
}
