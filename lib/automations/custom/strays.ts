import { AsyncLocalStorage } from 'node:async_hooks';
import { Interruption } from '../../engine/record/interruption.ts';
import type { CustomAutomations } from '../../triggers/custom-automation.ts';
import { ThrownByTeam } from './thrown.ts';

/** Gets what a promise was rejected with that no code waits for, and what a timer or a listener threw. */
type Stray = (thrown: unknown) => void;

interface StrayOptions {
  custom: Pick<CustomAutomations, 'showsErrors'>;
  log: Pick<Console, 'error'>;
}

const running = new AsyncLocalStorage<Stray>();

/** Runs code of a team. What it leaves behind, such as a promise or a timer, ends no process if it fails, also much later. */
export const catchingStrays = <T>(stray: Stray, code: () => T): T => running.run(stray, code);

/**
 * Logs what it gets, each once.
 * @param file that left the promise behind
 * @param failed gets it as the records may have it
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

// Each listener would hear of it, and that of Lambda's runtime ends the process. So what is of a team's code reaches none,
// and all else goes its usual way.
const ENDING = new Set(['unhandledRejection', 'uncaughtException']);
const { emit } = process;
process.emit = function (this: NodeJS.Process, event: string, ...given: unknown[]) {
  const stray = ENDING.has(event) ? running.getStore() : undefined;
  if (!stray) return Reflect.apply(emit, this, [event, ...given]);
  stray(given[0]);
  return true;
} as typeof emit;
