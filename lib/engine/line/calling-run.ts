import type { Budget } from '../../service/budget/budget.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Breakers } from '../../service/connection/breakers.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { Limited } from '../record/job.ts';
import type { StrangerCalls } from './stranger-calls.ts';

/** One run of a job, as far as its calls to the partner API are concerned. */
export interface CallingRun {
  connection: Connection;
  lane: Lane;
  /** A job's id. */
  caller: string;
  /** What the job's earlier runs met. */
  limited?: Limited | undefined;
  /** True if the job has waited before. It then goes ahead of new jobs. */
  cameBack: boolean;
  /** Set for a job that an outside contributor caused. */
  strangerCalls?: StrangerCalls | undefined;
  budget: Budget;
  breakers: Pick<Breakers, 'stopOf' | 'claimProbe' | 'failed' | 'toldNothing' | 'worked' | 'limited'>;
  /** The waiting line of the job's lane. */
  line?: OwnLine;
  clock: () => number;
  sleep: (ms: number) => Promise<void>;
  /** When the run must have ended: the Lambda's time-out. Epoch milliseconds. */
  deadline: number;
  report: (news: CallNews) => void;
}

/** Neither fails: a call counts for more. */
export interface OwnLine {
  /** Moves the lines of the connection on. */
  moveOn(): Promise<void>;
  /** When the job gets a slot, if it goes into the line now; undefined if that is too far away to tell. */
  foresee(): Promise<number | undefined>;
}

export type CallNews =
  | { news: 'rate limited' }
  | { news: 'strangers wait'; who: readonly string[] }
  | { news: 'credentials refused'; reason: string }
  | { news: 'stopped'; what: string; why: string }
  | { news: 'breaker not closed'; error: unknown };
