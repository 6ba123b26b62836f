import { digest } from '../../digest.ts';
import type { Lane } from '../../service/budget/lanes.ts';
import type { Newest, OperatorDecision, Waited } from './history.ts';
import type { Send } from './sends.ts';

/**
 * - `queued`: stored, and in the queue or about to be sent
 * - `running`: claimed by a worker until its lease ends
 * - `waiting`: due at a later time, with the reason
 * - `succeeded`, `parked`: ended; a parked job waits for an operator
 */
export type JobStatus = (typeof jobStatuses)[number];
export const jobStatuses = ['queued', 'running', 'waiting', 'parked', 'succeeded'] as const;

/** Where a person requested a job and gets its outcome. */
export type ReplyTo =
  | {
      in: 'slack';
      userId: string;
      /** Where they asked; missing for forms. */
      channelId?: string;
      /**
       * Set for commands and buttons, valid for half an hour; sealed in a stored job
       * (lib/platforms/slack/response-url.ts). Without it, the reply is a direct message.
       */
      responseUrl?: string;
    }
  | { in: 'github'; repository: string; issueNumber: number; installationId?: number };

/** How a person asked for a job. */
export interface Asked {
  /** The verb of their command. */
  verb?: string;
  /** The person: a Slack user id or a GitHub login. */
  by?: { in: 'slack' | 'github'; id: string };
  /** Their name, as Slack told it. */
  byName?: string;
  /**
   * When they asked, in a comment or in a job that is signed; epoch milliseconds. The signature covers it, and not the
   * job's `createdAt`.
   */
  at?: number;
  /** The line of a GitHub comment. It can be deleted or changed before the job runs. */
  comment?: WrittenLine;
  unproven?: Unproven;
}

export interface WrittenLine {
  /** Id of the comment. */
  id: number;
  /** Digest of the line, which may be long. */
  line: string;
}

/** A person whose permission the event does not show. Without a login, they have none. */
export interface Unproven {
  login?: string;
  /** The event shows a member or a collaborator, but not the role. Without credentials for GitHub, that has to do. */
  isShown?: boolean;
  /** Where they need it, if that is not where the answer goes. */
  in?: { repository: string; installationId?: number };
  /** What to reply on the issue if they have no permission. Without it, there is no reply. */
  otherwise?: string;
}

/** The event that a job was made from, as an operator looks for it. The job's id does not depend on it. */
export interface Cause {
  from: 'github' | 'slack' | 'schedule' | 'webhook' | 'job';
  /**
   * GitHub's `X-GitHub-Delivery`, the `trigger_id` or form of Slack, the time of the schedule (ISO 8601), the name of a
   * webhook of the team, or the job that made this one. If an event came several times, it is the first of its deliveries.
   */
  id: string;
  /** `issues.opened`, `issue_comment.created`. */
  event?: string;
  /** The GitHub login or the Slack user id that caused it. */
  person?: string;
}

/** The part of a job that comes from its event. */
export interface JobDraft {
  /** From {@link jobId}. */
  id: string;
  /** Name of the automation. */
  automation: string;
  connection: string;
  lane: Lane;
  /**
   * The subject of the job, `acme/web#42`, or in people's lanes the person, `slack-U0123ABCD`. Jobs with the same
   * entity run one after the other, unless they have a group.
   */
  entity: string;
  /** Jobs of one group run one after the other, in parallel with other jobs of their entity. */
  group?: string;
  /** Its first run does not wait for its turn in the line, because somebody waits for what it says at once. */
  startsAtOnce?: true;
  /** The event in one line, for people. */
  summary: string;
  /** The automation's input. As JSON it must stay well below the 400 KB of an item. */
  input: Record<string, unknown>;
  replyTo?: ReplyTo;
  asked?: Asked;
  /** Proves that intake made the job: {@link JobSignatures}. Missing in jobs that act as no person. */
  signature?: string;
  /** Login of the outside contributor who caused it; see lib/service/budget/stranger-share.ts. */
  stranger?: string;
  /** The revision of the event's state: how often the state of its link had changed when it was stored. */
  revision?: number;
  /** Set by intake when it accepts the event. */
  cause?: Cause;
}

/** The record of a job. Times are epoch milliseconds. */
export interface Job extends JobDraft {
  status: JobStatus;
  createdAt: number;
  /** When it was last queued again. A job that was sent again because no worker had claimed it keeps its time. */
  queuedAt?: number;
  /** When the sweep should check the job. For ended jobs: when they ended. */
  wakeAt: number;
  /** Counts how often it was deliberately queued. A message of an older generation is stale. */
  generation: number;
  /** The generation and the time in which a step was last done, or a person continued it. Missing before that. */
  gotOn?: { generation: number; at: number };
  /** Failed steps. Receiving a message does not count as an attempt, and neither does a crash. */
  attempts: number;
  /** The worker that runs it, and until when no other worker may. */
  lease?: { owner: string; since: number; until: number };
  /** When its last runs began, if they crashed one after the other. */
  crashes?: number[];
  /** When a `waiting` job is due, unless it is in line. The worker that claims it reads when it was due. */
  dueAt?: number;
  /**
   * Set while the job is in a waiting line, and until its next run ends: `main#background`, or
   * `main#background#defects/create` if that operation fails.
   */
  line?: string;
  /** While it is in line: the estimated time of its turn. */
  expectedAt?: number;
  /** After it is called from the line: when its slot opens. */
  slotAt?: number;
  /** Its waits between two runs. Missing if there was none. */
  waits?: Newest<Waited>;
  /** What operators decided about it. */
  decisions?: Newest<OperatorDecision>;
  /** The operator's decision to end it, until the worker has told the person who asked. */
  discarded?: { by: string; reason: string };
  /** The steps that the last run began and did not finish, with what they have sent. */
  unfinished?: UnfinishedStep[];
  /** While it waits after a 429. */
  limited?: Limited;
  /** For `succeeded`: what was done, for people. */
  outcome?: string;
  /** True if the request could not be done and the person was told why. */
  notDone?: boolean;
  /** Set for `parked`. */
  parked?: Parked;
}

/** The last 429 that a job met. */
export interface Limited {
  operation: string;
  /** What `limited` of lib/service/connection/breakers.ts returned for it. */
  served: number;
}

/** A step between two runs. The journal gets it when it ends. */
export interface UnfinishedStep {
  step: string;
  calls: string;
  startedAt: number;
  resumedAt?: number;
  sends?: Newest<Send>;
}

/**
 * Why a job was parked, without text from outside, for public places.
 * - `refused`: the service refused the content
 * - `outcome unknown`: a creating step was sent, and it is unknown whether it was executed
 * - `failed`: too many attempts failed
 * - `needs an operator`: everything else; the reason says what
 */
export type ParkKind = (typeof parkKinds)[number];
export const parkKinds = ['refused', 'outcome unknown', 'failed', 'needs an operator'] as const;

/** The wait that a job is in. */
export const waitOf = ({ status, waits }: Pick<Job, 'status' | 'waits'>): Waited | undefined =>
  status === 'waiting' ? waits?.newest.at(-1) : undefined;

/** When a job ended or was parked. */
export const endedAt = (job: Pick<Job, 'status' | 'wakeAt'>): number | undefined =>
  hasEnded(job) ? job.wakeAt : undefined;

/** True if a creating step was sent and it is unknown whether it was executed. */
export const isOutcomeUnknown = ({ parked }: Pick<Job, 'parked'>): boolean => parked?.kind === 'outcome unknown';

/** Since when a job waits for a worker to claim it. */
export const queuedSince = ({ queuedAt, createdAt }: Pick<Job, 'queuedAt' | 'createdAt'>): number =>
  queuedAt ?? createdAt;

/** Why a job cannot continue. */
export interface Parked {
  reason: string;
  kind: ParkKind;
}

const SHORT_NAME_LENGTH = 6;
const DIGEST_LENGTH = 20;

/**
 * When a waiting job continues, in epoch milliseconds: `probed` as soon as a probe finds that its calls work again, which
 * another job can make; undefined if nobody knows. Until a job is called from the line, its time is a forecast.
 */
export function continuesAt(job: Job): { at: number; isForecast: boolean } | 'probed' | undefined {
  const kind = waitOf(job)?.for;
  if (job.line !== undefined && (kind === 'outage' || kind === 'key')) return 'probed';
  const { dueAt, slotAt = dueAt } = job;
  // Between its wake-up and its slot, a called job takes the first slot that is free.
  if (dueAt !== undefined) return { at: Math.round((dueAt + (slotAt ?? dueAt)) / 2), isForecast: false };
  return job.expectedAt === undefined ? undefined : { at: job.expectedAt, isForecast: true };
}

/** @param time writes a time as its reader should see it, from epoch milliseconds */
export function continuesInWords(
  when: NonNullable<ReturnType<typeof continuesAt>>,
  time: (ms: number) => string,
  now: number,
): string {
  if (when === 'probed') return 'continues as soon as a probe succeeds';
  if (when.at <= now) return 'continues as soon as a worker takes it';
  return `continues at ${when.isForecast ? 'about ' : ''}${time(when.at)}`;
}

/** True if no run of the job follows, unless an operator continues it. */
export const hasEnded = ({ status }: Pick<Job, 'status'>) => status === 'succeeded' || status === 'parked';

/** True if an operator can end it undone: a job that cannot continue, or one of a backfill that waits. */
export const canBeDiscarded = ({ status, lane }: Pick<Job, 'status' | 'lane'>) =>
  status === 'parked' || (status === 'waiting' && lane === 'backfill');

/** What a person asked for, as the summary shows it: without the name in front, and without private text. */
export function askedIn({ summary }: Pick<Job, 'summary'>): string {
  return summary.slice(summary.indexOf(': ') + 2);
}

/** The status in a word for people: a job that ended may have done nothing, or was discarded. */
export function statusInWords({ status, notDone, discarded }: Pick<Job, 'status' | 'notDone' | 'discarded'>) {
  if (status !== 'succeeded') return status;
  if (discarded) return 'discarded';
  return notDone ? 'not done' : status;
}

/** What came of a job, or why it waits or is parked, for people. Empty if there is nothing to say yet. */
export function newsOf(job: Pick<Job, 'status' | 'parked' | 'waits' | 'outcome'>): string {
  const { status, parked, outcome } = job;
  return (status === 'parked' ? parked?.reason : (waitOf(job)?.why ?? outcome)) ?? '';
}

/** The start of the digest in a job's id: enough to tell jobs apart in a terminal. */
export function shortName(id: string): string {
  return id.slice(-DIGEST_LENGTH).slice(0, SHORT_NAME_LENGTH);
}

/**
 * A job's id, derived from what happened and not from the delivery. The same event has the same id if it comes from two
 * hooks, is redelivered or is retried.
 */
export function jobId(automation: string, ...happened: readonly (string | number)[]): string {
  return `${automation}-${digest(happened)}`;
}
