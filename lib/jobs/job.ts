import type { Lane } from '../budget/lanes.ts';
import { digest } from '../digest.ts';

/**
 * - `queued`: stored, and in the queue or about to be
 * - `running`: claimed by a worker until its lease ends
 * - `waiting`: due at a later time, with the reason
 * - `succeeded`, `parked`: ended; a parked job waits for a person
 */
export type JobStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'parked';

/** Where somebody is who asked for a job in person, and hears what becomes of it. */
export type ReplyTo =
  | {
      in: 'slack';
      userId: string;
      /** Of a command or a button, for half an hour; without one the reply is a direct message. */
      responseUrl?: string;
    }
  | { in: 'github'; repository: string; issueNumber: number; installationId?: number };

/** How a person asked for a job. */
export interface Asked {
  /** The verb of their command. */
  verb?: string;
  /** Who they are: a user id of Slack, a login of GitHub. */
  by?: { in: 'slack' | 'github'; id: string };
  /** The line of a comment on GitHub, which can be deleted or changed before the job runs. */
  comment?: WrittenLine;
  unproven?: Unproven;
}

export interface WrittenLine {
  /** Id of the comment. */
  id: number;
  /** Digest of the line, which may be long. */
  line: string;
}

/** A person who may not be allowed to ask: the event does not show it. Without a login they are not. */
export interface Unproven {
  login?: string;
  /** What to say on the issue if they are not. Without it nothing is said. */
  otherwise?: string;
}

/** What is made of an event. */
export interface JobDraft {
  /** From {@link jobId}. */
  id: string;
  /** Name of the automation. */
  automation: string;
  connection: string;
  lane: Lane;
  /**
   * What the job is about, `acme/web#42`, or in the lanes of people who asked for it, `slack-U0123ABCD`. Jobs of one
   * entity are done one after the other, unless they have a group.
   */
  entity: string;
  /** Jobs of one group are done one after the other, beside those of their entity. */
  group?: string;
  /** The event in one line, for people. */
  summary: string;
  /** What the automation needs to run it; as JSON well below the 400 KB of an item. */
  input: Record<string, unknown>;
  replyTo?: ReplyTo;
  asked?: Asked;
  /** Login of the person from outside of the repository who caused it; see lib/budget/stranger-share.ts. */
  stranger?: string;
  /** Of the state that the event told: the turn of the link in which it was kept. */
  revision?: number;
}

/** The record of a job. Times are epoch milliseconds. */
export interface Job extends JobDraft {
  status: JobStatus;
  createdAt: number;
  /** When it was sent to the queue; without it, the process died between storing and sending. */
  queuedAt?: number;
  /** When somebody should look at it: the sweep for jobs under way; for ended ones, when they ended. */
  wakeAt: number;
  /** Counts how often it was queued on purpose. A message of an older generation is stale. */
  generation: number;
  /** Failed steps and crashes; receiving a message is no attempt. */
  attempts: number;
  /** Who runs it, and until when nobody else may. */
  lease?: { owner: string; until: number };
  /** The owner of the lease that was given back last. */
  endedBy?: string;
  /** While `waiting`, unless it stands in line; and for who claims it then, when it was due. */
  dueAt?: number;
  /** From when it stands in the waiting line until its next run ends: `main#background`. */
  line?: string;
  /** While it stands in line: when its turn comes, as far as is known. */
  expectedAt?: number;
  /** Once it is called from the line: when its slot opens. */
  slotAt?: number;
  waitingFor?: string;
  /** Once `succeeded`: what was done, for people. */
  outcome?: string;
  /** What was asked for could not be done, and whoever asked was told why. */
  notDone?: boolean;
  /** Once `parked`. */
  parked?: Parked;
  finishedAt?: number;
}

/** Why a job cannot go on. */
export interface Parked {
  reason: string;
  /** Whether a creating step was sent and nobody can say if it was carried out. */
  outcomeUnknown: boolean;
}

/**
 * A job's id, from what happened and not from how it was told: the same event told by two hooks, redelivered or
 * retried has the same id.
 */
export function jobId(automation: string, ...happened: readonly (string | number)[]): string {
  return `${automation}-${digest(happened)}`;
}
