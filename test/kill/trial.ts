import type { Job } from '../../lib/engine/record/job.ts';
import type { Answering } from './creation-faults.ts';
import type { Incoming } from './incoming.ts';

/** The functions that a trial runs. */
export type FunctionSlug = 'github-webhook' | 'slack-webhook' | 'job-worker' | 'job-sweep';

/** Something that a function does outside, in words. */
export interface Effect {
  by: FunctionSlug;
  what: string;
}

/**
 * What happens at a side effect, counted from 0 over all that the relay does in the trial. A host stops `before` it,
 * which is then not carried out, or `after` it, which is carried out and whose answer never arrives. Or AWS has
 * `refused` it, and the host goes on; of webhooks only. Or AWS carries it out and is `silent`, until the host gives up.
 */
export interface Stop {
  at: number;
  when: 'before' | 'after' | 'refused' | 'silent';
}

/** How the relay comes to its senses after a stop. Each is what may well happen first. */
export interface Recovery {
  /** The sweep runs at each moment, or only where no message is left to wait for. */
  sweeps: 'always' | 'last';
  /** What was not answered comes again at once, or only minutes after everything else came to rest. */
  redelivers: 'at once' | 'late';
}

export interface Trial {
  /** What comes, in its order. */
  incoming: readonly Incoming[];
  /** The operation, or the tool, that `answers` befall: one that creates, unless it is repeatable. */
  operation: string;
  isTool?: boolean | undefined;
  repeatable?: boolean | undefined;
  stops?: readonly Stop[];
  /** Whether a stopped host goes on, long after others took over its work; otherwise it was killed. */
  comesBack?: boolean;
  /** What happens to the first sends of the operation. */
  answers?: readonly Answering[];
  recovery?: Recovery | undefined;
}

/** What befell the creations, for who judges it. */
export type Happening =
  /** The signed request of a job is in the table, or not any more. */
  | { what: 'kept'; pk: string; nonce: string }
  | { what: 'dropped'; pk: string }
  | { what: 'sent'; nonce: string }
  | { what: 'answered'; nonce: string; answer: Response | 'nothing' }
  /** A host stopped, whatever it was at. */
  | { what: 'stopped' };

/** A command that a person typed in Slack. */
export interface Typed {
  /** Of this command and no other, so that it tells which job became of it. */
  triggerId: string;
  /** With 2xx, which says that it is worked on. */
  isAnswered: boolean;
}

export interface TrialResult {
  happenings: readonly Happening[];
  effects: readonly Effect[];
  /** How often the operation was sent. */
  sends: number;
  /** How many of the stops came about. */
  stops: number;
  jobs: readonly Job[];
  /** Ids of jobs that GitHub was told of with 2xx. */
  acknowledged: readonly string[];
  typed: readonly Typed[];
  /** What the functions logged as errors. */
  logged: readonly unknown[];
}

/** A trial while it runs. */
export interface UnderWay extends Trial {
  happenings: Happening[];
  effects: Effect[];
  /** How often the operation was sent. */
  sends: number;
  /** A request that has left and not arrived yet. */
  late: (() => Promise<unknown>) | undefined;
  stopped: number;
  logged: unknown[];
}
