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
/** A budget is kept for longer than a week, because nothing counts for longer. */
const KEPT_MS = 8 * DAY;

/** Changes the state of a budget. Returns an answer, and whether the state changed. */
export type Decide<T> = (state: BudgetState, now: number, id: string) => { answer: T; changed: boolean };

/** A change that is written together with the next change of the budget. */
export interface Correction {
  correct: (state: BudgetState) => void;
  /** True if the correction gives capacity back. */
  frees: boolean;
}

export interface BudgetStoreOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Waits before a write is repeated because another worker was faster. */
  sleep: (ms: number) => Promise<unknown>;
  /** Returns the holder of a connection's key, in processes that may read the key. */
  keyHolder: (connection: string) => KeyHolder | undefined;
  /** Gets a line if a budget had impossible values. */
  warn: (line: object) => void;
}

interface ReadBudget {
  state: BudgetState;
  faults: string[];
  /** The id of the last write. Undefined without an item, or if the relay did not write the item. */
  written: string | undefined;
  exists: boolean;
}

/**
 * Keeps the state of each budget in one item. Every change is one conditional write. Callers name a connection, or the
 * id of the budget from which they took a slot.
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
    // Also reads an expired item, because it would prevent the write of a new one.
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
    // Dropped values must be written even without a change, because what counts as impossible depends on the time.
    if (!changed && faults.length === 0) return { answer };
    // Deleted before the write, because another change of this process may read the written state before this write
    // returns. It must not apply the same corrections again.
    corrections.delete(id);
    try {
      if (!(await write(id, read))) {
        changeLater(id, ...riding);
        return undefined;
      }
    } catch (error) {
      // The write may have been carried out. Repeating a correction that frees capacity could then free another
      // caller's capacity. It is dropped, because the capacity is free after a minute anyway.
      changeLater(id, ...riding.filter(({ frees }) => !frees));
      throw error;
    }
    if (faults.length > 0)
      warn({ message: 'the budget had impossible values, which were left out', budget: id, faults });
    return { answer };
  }

  /**
   * Applies corrections with the next write of the budget, or with `flush`. They are lost if the process ends before
   * that.
   */
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
    /**
     * @param maxAgeMs the maximum age of a state that this process has read before; by default, it reads the state now
     */
    async read(connection: string, maxAgeMs = 0): Promise<BudgetState> {
      const id = await idOf(connection);
      const last = seen.get(id);
      if (last && last.at + maxAgeMs > clock()) return last.state;
      const { state } = await orUnavailable(connection, () => readItem(id));
      seen.set(id, { state, at: clock() });
      return state;
    },
    /** Reads the state and lets `decide` change it. Repeats this until no other worker was faster. */
    change: async <T>(connection: string, rank: Rank, decide: Decide<T>) =>
      change(connection, await idOf(connection), rank, decide),
    changeById: <T>(id: string, rank: Rank, decide: Decide<T>) => change(id, id, rank, decide),
    /** Writes the pending corrections once. If another worker is faster, the next write includes them. */
    async flush(connection: string): Promise<void> {
      const id = await idOf(connection);
      if (correctionsOf(id).length === 0) return;
      await orUnavailable(connection, () => tryChange(id, () => ({ answer: undefined, changed: true })));
    },
    changeLater,
  };
}
