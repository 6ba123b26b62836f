import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { Way } from '../ways.ts';

/** The functions that a trial runs. */
export type FunctionSlug = 'github-webhook' | 'slack-webhook' | 'job-worker' | 'job-sweep';

/** An event from outside. Without a 2xx, it comes again, each kind in its own way. */
export type Incoming =
  /** GitHub redelivers it unchanged. */
  | { from: 'github'; event: string; payload: object }
  /** Slack does not repeat it. The person types it again, which is a new command with its own trigger_id. */
  | { from: 'slack command'; text: string; userId: string; channelId: string }
  /** The modal stays open with an error, and the person submits it again. */
  | { from: 'slack modal'; payload: object };

/** An outside effect of a function, in words. */
export interface Effect {
  by: FunctionSlug;
  what: string;
}

/**
 * What happens at a side effect. `at` counts from 0 over all effects in the trial. A host stops `before` it, so that it
 * is not carried out, or `after` it, so that it is carried out but its answer never arrives. Or AWS has `refused` it,
 * and the host continues; only in webhooks. Or AWS carries it out but is `silent`, until the host gives up.
 */
export interface Stop {
  at: number;
  when: 'before' | 'after' | 'refused' | 'silent';
}

/** How the relay recovers after a stop. Each may happen first. */
export interface Recovery {
  /** Whether the sweep runs at each moment, or only when no message is left to wait for. */
  sweeps: 'always' | 'last';
  /** Whether events without an answer come again at once, or only minutes after all other work has ended. */
  redelivers: 'at once' | 'late';
}

/** The tools that commands use. */
export type Commands = NonNullable<NonNullable<RelayConfigInput['connections'][string]['mcp']>['commands']>;

/** The operation that the faults affect. */
export interface Target {
  /** An operation, or a tool. */
  operation: string;
  /** It may be repeated, so a person never has to decide. Otherwise, it creates something. */
  repeatable?: true;
  /**
   * It is a tool: it has no nonce, and is sent at most once. If the outcome is unknown, the person who asked decides.
   */
  isTool?: true;
}

export interface Trial<Row extends Target = Target> {
  row: Row;
  /** The outcomes of the first sends of the row's operation. */
  answers: readonly Way[];
  stops?: readonly Stop[];
  /** Whether a stopped host resumes, long after others took over its work; otherwise, it was killed. */
  comesBack?: boolean;
  /** Whether GitHub and Slack deliver everything again after the work is done. */
  isRepeated?: boolean;
  recovery?: Recovery | undefined;
}

/** An event of a creation, for the referee. */
export type Happening =
  /** The signed request of a job is in the table, or no longer. */
  | { what: 'kept'; pk: string; nonce: string }
  | { what: 'dropped'; pk: string }
  | { what: 'sent'; nonce: string }
  | { what: 'answered'; nonce: string; answer: Response | 'nothing' }
  /** A host stopped, whatever it was doing. */
  | { what: 'stopped' };

/** A command that a person typed in Slack. */
export interface Typed {
  /** Unique to this command, so it identifies the command's job. */
  triggerId: string;
  /** Whether it was answered with 2xx, which tells the person that the relay works on it. */
  isAnswered: boolean;
}

/** The result of a trial. */
export interface TrialResult {
  happenings: Happening[];
  effects: Effect[];
  /** How often the operation was sent. */
  sends: number;
  /** How many of the stops happened. */
  stops: number;
  jobs: readonly Job[];
  /** The ids of jobs in answers to GitHub with 2xx. */
  acknowledged: string[];
  typed: Typed[];
  /** Lines that functions logged as errors. */
  logged: unknown[];
}

/** Whether the command made this job. */
export const isOf = ({ cause }: Job, { triggerId }: Typed): boolean =>
  cause?.from === 'slack' && cause.id === triggerId;
