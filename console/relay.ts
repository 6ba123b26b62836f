import type { Runtime, Stores } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';
import type { Changes } from './changes.ts';
import type { Try } from './try/try.ts';

/** A relay, and who operates it. */
export interface OperatedRelay {
  /** `this machine`, or the name of the stage. */
  name: string;
  runtime: Pick<Runtime, 'config' | 'custom' | 'clock' | 'random' | 'randomBytes' | 'fetch'> & {
    environment: Pick<Runtime['environment'], 'STAGE'>;
  };
  stores: Stores;
  /** Who operates. It is recorded with each change. */
  operator: string;
  /** The sentence that says that the stage is stopped, or null. Undefined if it cannot be stopped. */
  stopped?: (() => Promise<string | null>) | undefined;
}

/** The relay that a console shows. */
export interface ConsoleRelay extends OperatedRelay {
  /** False if it is read-only. */
  operate: boolean;
  changes: Changes;
  /** Runs a schedule now. @returns the result of its function */
  runSchedule: (slug: string, event: ScheduleEvent) => Promise<unknown>;
  /** The log of the functions, on one machine. */
  logFile?: string | undefined;
  /** On one machine. */
  try?: Try | undefined;
}
