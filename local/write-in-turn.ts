import { Level } from 'level';

type Operation = { type: 'put'; key: string; value: unknown } | { type: 'del'; key: string };

interface Write {
  operations: readonly Operation[];
  done: () => void;
  failed: (error: unknown) => void;
}

/** dynalite's interface to its files. */
interface Files {
  put(key: string, value: unknown): Promise<void>;
  del(key: string): Promise<void>;
  batch(operations: readonly Operation[]): Promise<void>;
}

/**
 * Makes this process write to its database in turn. Operations that arrive during a write form the next write together.
 *
 * LevelDB continues after a failed write, and Node may report the later write first. Its answer would be sent, but the
 * write is lost when the files are opened again. So nothing is written after a failure, and waiting operations get no
 * answer.
 */
export function writeInTurn(): void {
  const files = Level.prototype as Level & Files;
  const { batch } = files;
  let waiting: Write[] = [];
  let isBusy = false;

  async function work(database: Files): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const writes = waiting;
      waiting = [];
      const operations = writes.flatMap((write) => write.operations);
      try {
        await batch.call(database, operations);
      } catch (error) {
        for (const { failed } of writes) failed(error);
        return;
      }
      for (const { done } of writes) done();
    }
    isBusy = false;
  }

  function write(database: Files, operations: readonly Operation[]): Promise<void> {
    return new Promise((done, failed) => {
      waiting.push({ operations, done, failed });
      if (!isBusy) void work(database);
    });
  }

  Object.assign(files, {
    batch(this: Files, operations: readonly Operation[]) {
      return write(this, operations);
    },
    put(this: Files, key: string, value: unknown) {
      return write(this, [{ type: 'put', key, value }]);
    },
    del(this: Files, key: string) {
      return write(this, [{ type: 'del', key }]);
    },
  } satisfies Files);
}
