import { AsyncLocalStorage } from 'node:async_hooks';
import { Interruption } from '../../engine/record/interruption.ts';
import { ThrownByTeam } from './thrown.ts';

/** Gets what a promise was rejected with that no code waits for. */
type Stray = (thrown: unknown) => void;
type Log = Pick<Console, 'error'>;

const running = new AsyncLocalStorage<Stray>();

/** Runs code of a team. A promise that it leaves behind and that is rejected ends no process, also much later. */
export const catchingStrays = <T>(stray: Stray, code: () => T): T => running.run(stray, code);

/**
 * Logs what it gets, each once.
 * @param file that left the promise behind
 * @param failed gets it as the records may have it
 */
export function strayOf(file: string, log: Log, about: object, failed?: (error: Error) => void): Stray {
  const logged = new Set<unknown>();
  return (thrown) => {
    const error = thrown instanceof Interruption ? thrown : new ThrownByTeam(thrown);
    failed?.(error);
    if (logged.has(thrown)) return;
    logged.add(thrown);
    log.error({ message: `${file} does not wait for a promise, which failed`, ...about, error: error.message });
  };
}

// Each listener would hear of a rejection, and that of Lambda's runtime ends the process. So the event of a team's promise
// reaches none, and all others go their usual way.
const { emit } = process;
process.emit = function (this: NodeJS.Process, event: string, ...given: unknown[]) {
  const stray = event === 'unhandledRejection' ? running.getStore() : undefined;
  if (!stray) return Reflect.apply(emit, this, [event, ...given]);
  stray(given[0]);
  return true;
} as typeof emit;
