import type { Runtime, Stores } from '../lib/runtime.ts';
import type { Changes } from './changes.ts';
import type { Try } from './try/try.ts';

/** The relay that a console shows. */
export interface ConsoleRelay {
  /** `this machine`, or the name of the stage. */
  name: string;
  runtime: Pick<Runtime, 'config' | 'clock' | 'random' | 'randomBytes' | 'fetch'>;
  stores: Stores;
  /** False if it is read-only. */
  operate: boolean;
  /** Who operates. It is recorded with each change. */
  operator: string;
  changes: Changes;
  /** On one machine. */
  try?: Try | undefined;
}
