import { AsyncLocalStorage } from 'node:async_hooks';
import { Interruption } from '../../engine/record/interruption.ts';
import type { CustomAutomations } from '../../triggers/custom-automation.ts';
import { ThrownByTeam } from './thrown.ts';

/** Receives the rejection of a promise that no code awaits, or the exception of a timer or listener. */
type Stray = (thrown: unknown) => void;

interface StrayOptions {
  custom: Pick<CustomAutomations, 'showsErrors'>;
  log: Pick<Console, 'error'>;
}

const running = new AsyncLocalStorage<Stray>();

/**
 * Runs the team's code. If a promise or timer that it leaves behind fails, even much later, the process does not end.
 */
export const catchingStrays = <T>(stray: Stray, code: () => T): T => running.run(stray, code);

/**
 * Creates a function that logs each stray once.
 * @param file the file that left the promise behind
 * @param failed receives the error in a form for the records
 */
export function strayOf(
  file: string,
  { custom, log }: StrayOptions,
  about: object,
  failed?: (error: Error) => void,
): Stray {
  const logged = new Set<unknown>();
  return (thrown) => {
    const error = thrown instanceof Interruption ? thrown : new ThrownByTeam(thrown);
    failed?.(error);
    if (logged.has(thrown)) return;
    logged.add(thrown);
    const words = error instanceof ThrownByTeam ? error.inWords(file, custom) : error.message;
    log.error({ message: `${file} left a promise or a timer behind, and it failed`, ...about, error: words });
  };
}

// Other listeners would receive the error, too, and the listener of Lambda's runtime ends the process. So errors of the
// team's code reach no listener. All other errors take their usual way.
const ENDING = new Set(['unhandledRejection', 'uncaughtException']);
const { emit } = process;
process.emit = function (this: NodeJS.Process, event: string, ...given: unknown[]) {
  const stray = ENDING.has(event) ? running.getStore() : undefined;
  if (!stray) return Reflect.apply(emit, this, [event, ...given]);
  stray(given[0]);
  return true;
} as typeof emit;
