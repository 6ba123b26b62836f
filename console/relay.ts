import type { Runtime, Stores } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';
import type { Changes } from './changes.ts';
import type { Try } from './try/try.ts';

/** A relay and its operator. */
export interface OperatedRelay {
  /** `this machine`, or the name of the stage. */
  name: string;
  runtime: Pick<Runtime, 'config' | 'custom' | 'clock' | 'random' | 'randomBytes' | 'fetch'> & {
    environment: Pick<Runtime['environment'], 'STAGE'>;
  };
  stores: Stores;
  /** The operator's name, which is recorded with each change. */
  operator: string;
  /** Returns a sentence that the stage is stopped, or null. Undefined if the relay cannot be stopped. */
  stopped?: (() => Promise<string | null>) | undefined;
}

/** The relay that a console shows. */
export interface ConsoleRelay extends OperatedRelay {
  /** False for a read-only console. */
  operate: boolean;
  changes: Changes;
  /** Runs a schedule now. @returns the result of its function */
  runSchedule: (slug: string, event: ScheduleEvent) => Promise<unknown>;
  /** The log of the functions; only on one machine. */
  logFile?: string | undefined;
  /** Only on one machine. */
  try?: Try | undefined;
}
