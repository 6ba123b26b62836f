import type { RelayConfigInput } from '../../lib/config/schema.ts';
import type { Job } from '../../lib/engine/record/job.ts';
import type { Way } from '../ways.ts';

/** The functions that a trial runs. */
export type FunctionSlug = 'github-webhook' | 'slack-webhook' | 'job-worker' | 'job-sweep';

/** What comes from outside. What is not answered with 2xx comes again, each kind in its own way. */
export type Incoming =
  /** GitHub redelivers it as it was. */
  | { from: 'github'; event: string; payload: object }
  /** Slack does not. The person types it again, which is another command with a trigger_id of its own. */
  | { from: 'slack command'; text: string; userId: string; channelId: string }
  /** The modal stays open with an error, and the person sends it off again. */
  | { from: 'slack modal'; payload: object };

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

/** The tools that commands go through. */
export type Commands = NonNullable<NonNullable<RelayConfigInput['connections'][string]['mcp']>['commands']>;

/** What the faults befall. */
export interface Target {
  /** An operation, or a tool. */
  operation: string;
  /** It may be carried out twice, so that nothing is ever left to a person. Otherwise it creates something. */
  repeatable?: true;
  /** It is a tool: it has no nonce, is sent once at most, and what nobody knows is left to the person who asked. */
  isTool?: true;
}

export interface Trial<Row extends Target = Target> {
  row: Row;
  /** What happens to the first sends of the row's operation. */
  answers: readonly Way[];
  stops?: readonly Stop[];
  /** Whether a stopped host goes on, long after others took over its work; otherwise it was killed. */
  comesBack?: boolean;
  /** Whether GitHub and Slack deliver everything once more after it was worked on. */
  isRepeated?: boolean;
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

/** What has come of a trial. */
export interface TrialResult {
  happenings: Happening[];
  effects: Effect[];
  /** How often the operation was sent. */
  sends: number;
  /** How many of the stops came about. */
  stops: number;
  jobs: readonly Job[];
  /** Ids of jobs that GitHub was told of with 2xx. */
  acknowledged: string[];
  typed: Typed[];
  /** What the functions logged as errors. */
  logged: unknown[];
}

/** Whether the job became of that command. */
export const isOf = ({ cause }: Job, { triggerId }: Typed): boolean =>
  cause?.from === 'slack' && cause.id === triggerId;
