import { randomUUID } from 'node:crypto';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type BudgetState, readState, stateItem } from './budget-item.ts';
import type { Rank } from './lanes.ts';

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

/**
 * Keeps the state of each connection's budget in one item. Every change is one conditional write.
 *
 * @throws {BudgetUnavailable} from each method
 */
export interface BudgetStore {
  /** @param maxAgeMs how old a state may be that this process has read before; without it, the state is read now */
  read(connection: string, maxAgeMs?: number): Promise<BudgetState>;
  /**
   * Reads the state and lets `decide` change it, again and again until no other worker was faster.
   * @param decide returns the answer, and whether it changed the state
   */
  change<T>(
    connection: string,
    rank: Rank,
    decide: (state: BudgetState, now: number) => { answer: T; changed: boolean },
  ): Promise<T>;
  /** Changes the state with the next write, or with {@link flush}. A process that ends takes the change along. */
  changeLater(connection: string, correct: (state: BudgetState) => void): void;
  /** Writes what is to be changed later, unless another worker is faster: then the next write does it. */
  flush(connection: string): Promise<void>;
}

export interface BudgetStoreOptions {
  table: Table;
  clock: () => number;
  random: () => number;
  /** Waits before a write is repeated that another worker was ahead of. */
  sleep: (ms: number) => Promise<unknown>;
}

export function createBudgetStore({ table, clock, random, sleep }: BudgetStoreOptions): BudgetStore {
  const corrections = new Map<string, ((state: BudgetState) => void)[]>();
  const seen = new Map<string, { state: BudgetState; at: number }>();
  const correctionsOf = (connection: string) => corrections.get(connection) ?? [];

  async function orUnavailable<T>(connection: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw new BudgetUnavailable(connection, error);
    }
  }

  async function read(connection: string, maxAgeMs = 0): Promise<BudgetState> {
    const last = seen.get(connection);
    if (last && last.at + maxAgeMs > clock()) return last.state;
    const item = await orUnavailable(connection, async () =>
      readState(await table.get(keys.budget(connection)), clock()),
    );
    seen.set(connection, { state: item, at: clock() });
    return item;
  }

  /** @returns false if another worker has written in the meantime */
  function write(connection: string, state: BudgetState, written: string): Promise<boolean> {
    const { version } = state;
    return orUnavailable(connection, () =>
      table.put(
        { ...keys.budget(connection), ...stateItem({ ...state, version: version + 1, written }) },
        { expression: 'attribute_not_exists(#pk) OR #version = :version', values: { version } },
      ),
    );
  }

  /** Tries a change once. @returns undefined if another worker was faster */
  async function tryChange<T>(
    connection: string,
    decide: (state: BudgetState, now: number) => { answer: T; changed: boolean },
  ): Promise<{ answer: T } | undefined> {
    const state = await read(connection);
    const riding = correctionsOf(connection);
    for (const correct of riding) correct(state);
    const { answer, changed } = decide(state, clock());
    if (!changed) return { answer };
    const written = randomUUID();
    // The SDK repeats a write whose answer was lost, and then its own first try is in the way.
    if (!(await write(connection, state, written)) && (await read(connection)).written !== written) return undefined;
    corrections.set(
      connection,
      correctionsOf(connection).filter((one) => !riding.includes(one)),
    );
    return { answer };
  }

  return {
    read,
    async change(connection, rank, decide) {
      for (let tries = 1; tries <= CONTENDED_TRIES; tries++) {
        const done = await tryChange(connection, decide);
        if (done) return done.answer;
        await sleep(random() * Math.min(LONGEST_PAUSE_MS[rank], FIRST_PAUSE_MS * 2 ** tries));
      }
      throw new BudgetUnavailable(connection, new Error(`other workers were faster ${CONTENDED_TRIES} times in a row`));
    },
    async flush(connection) {
      if (correctionsOf(connection).length === 0) return;
      await tryChange(connection, () => ({ answer: undefined, changed: true }));
    },
    changeLater(connection, correct) {
      corrections.set(connection, [...correctionsOf(connection), correct]);
    },
  };
}
