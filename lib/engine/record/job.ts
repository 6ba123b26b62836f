import * as z from 'zod/mini';
import { digest } from '../../digest.ts';
import { lanes } from '../../service/budget/lanes.ts';
import { storedTime } from '../../state/table/unreadable-item.ts';
import { newestShape, type OperatorDecision, type Waited } from './history.ts';
import type { Send } from './sends.ts';

/**
 * - `queued`: stored, and in the queue or about to be sent
 * - `running`: claimed by a worker until its lease ends
 * - `waiting`: due at a later time, with the reason
 * - `succeeded`: done
 * - `not-done`: the person read why, or an operator discarded it
 * - `parked`: waits for an operator
 */
export type JobStatus = (typeof jobStatuses)[number];
export const jobStatuses = ['queued', 'running', 'waiting', 'parked', 'succeeded', 'not-done'] as const;

/**
 * Why a job was parked, without text from outside, so that public places can show it.
 * - `refused`: the service refused the content
 * - `outcome unknown`: a creating step was sent, and it is unknown whether it was executed
 * - `failed`: too many attempts failed
 * - `needs an operator`: everything else; the reason says what
 */
export type ParkKind = Parked['kind'];
export const parkKinds = ['refused', 'outcome unknown', 'failed', 'needs an operator'] as const;

const string = z.string();
const maybe = z.exactOptional(string);
const count = z.int().check(z.gte(0));
const maybeTime = z.exactOptional(storedTime);

/** The fields of a job that the index of waiting lines also has. Times are epoch milliseconds. */
export const standingShape = {
  /** From {@link jobId}. */
  id: string,
  /** How often the job was queued on purpose. A message of an older generation is stale. */
  generation: count,
  lane: z.enum(lanes),
  /**
   * The subject of the job, such as `acme/web#42`, or in people's lanes the person, `slack-U0123ABCD`. Jobs with the
   * same entity run one after the other, unless they have a group.
   */
  entity: string,
  createdAt: storedTime,
  /** When the job's slot opens. Set when it is called from the line. */
  slotAt: maybeTime,
};

/** The fields of a job that come from its event. */
const drafted = () => ({
  automation: string,
  connection: string,
  /** Jobs of one group run one after the other, and in parallel with other jobs of their entity. */
  group: maybe,
  /** The first run does not wait in line, because a person waits for its answer. */
  startsAtOnce: z.exactOptional(z.literal(true)),
  /** The event in one line, for people. */
  summary: string,
  /**
   * The event in one line, as the relay understood it. Lists show it in place of the summary. Logs never contain it.
   */
  title: maybe,
  /** The automation's input. As JSON, it must stay well below the 400 KB of an item. */
  input: z.record(string, z.unknown()),
  /** Where a person requested the job and reads its outcome. */
  replyTo: z.exactOptional(
    z.discriminatedUnion('in', [
      z.object({
        in: z.literal('slack'),
        userId: string,
        /** The channel of the request. Missing for forms. */
        channelId: maybe,
        /**
         * Set for commands and buttons, and valid for half an hour. A stored job has it sealed
         * (lib/platforms/slack/response-url.ts). Without it, the reply is a direct message.
         */
        responseUrl: maybe,
      }),
      z.object({
        in: z.literal('github'),
        repository: string,
        issueNumber: count,
        installationId: z.exactOptional(count),
      }),
    ]),
  ),
  asked: z.exactOptional(
    z.object({
      /** The verb of the person's command. */
      verb: maybe,
      /** The person: a Slack user id or a GitHub login. */
      by: z.exactOptional(z.object({ in: z.enum(['slack', 'github']), id: string })),
      /** The person's name from Slack. */
      byName: maybe,
      /**
       * When the person asked. Set for comments and for signed jobs, because the signature does not cover `createdAt`.
       */
      at: maybeTime,
      /**
       * The comment on GitHub, and a digest of its line, which may be long. The comment can change before the job runs.
       */
      comment: z.exactOptional(z.object({ id: count, line: string })),
      /** A person whose permission the event does not show. */
      unproven: z.exactOptional(
        z.object({
          /** Without it, the person has no permission. */
          login: maybe,
          /**
           * The event shows a member or a collaborator, but not the role. Without credentials for GitHub, that is
           * sufficient.
           */
          isShown: z.exactOptional(z.boolean()),
          /** Where the person needs the permission, if that is not where the answer goes. */
          in: z.exactOptional(z.object({ repository: string, installationId: z.exactOptional(count) })),
          /** The reply on the issue if the person has no permission. Without it, there is no reply. */
          otherwise: maybe,
        }),
      ),
    }),
  ),
  /** Proves that intake made the job (job-signatures.ts). Missing in jobs that act as no person. */
  signature: maybe,
  /** Login of the outside contributor who caused the job; see lib/service/budget/stranger-share.ts. */
  stranger: maybe,
  /** How often the state of the event's link had changed when the event was stored. */
  revision: z.exactOptional(count),
  /**
   * The event that intake accepted, with the names that an operator searches for. The job's id does not depend on it.
   */
  cause: z.exactOptional(
    z.object({
      from: z.enum(['github', 'slack', 'schedule', 'webhook', 'job']),
      /**
       * GitHub's `X-GitHub-Delivery`, Slack's `trigger_id` or form, the schedule's time (ISO 8601), the name of the
       * team's webhook, or the job that made this one. For an event that came several times, the first delivery.
       */
      id: string,
      /** `issues.opened`, `issue_comment.created`. */
      event: maybe,
      /** The GitHub login or the Slack user id of the person who caused the event. */
      person: maybe,
      /** The trace id of the request: lib/state/http/trace.ts. */
      trace: maybe,
    }),
  ),
});

export const parkedShape = z.object({
  reason: string,
  kind: z.enum(parkKinds),
  /** The creation with an unknown outcome. Missing if the journal cannot be read. */
  open: z.exactOptional(
    z.object({
      operation: string,
      /** Until then, the service may still carry out the creation. */
      until: storedTime,
      /** True if the relay can search for the created object. */
      isSought: z.boolean(),
      /** True if the relay can ask the service about an id that a person gives. */
      isChecked: z.boolean(),
    }),
  ),
  /** The reason is a question. Only an answer continues the job. */
  asks: z.exactOptional(z.literal(true)),
});

const questionShape = z.object({
  step: string,
  /** The person, or the channel whose members may answer. */
  to: z.union([z.object({ userId: string }), z.object({ channelId: string })]),
  until: storedTime,
  /** A digest of each choice, in the order of the buttons. */
  choices: z.array(string),
  /**
   * The choice of a person, sealed (lib/platforms/slack/answers.ts), or `none` if the question ended without an answer.
   */
  answer: maybe,
});

/** The record of a job. Built lazily, because a webhook reads a job only for a repeated event. */
export const jobShape = z.lazy(() =>
  z.object({
    ...standingShape,
    ...drafted(),
    status: z.enum(jobStatuses),
    /** When the job was last queued again. Sending it again because no worker claimed it does not change this time. */
    queuedAt: maybeTime,
    /** When the sweep checks the job. For ended and parked jobs, when they ended. */
    wakeAt: storedTime,
    /**
     * The generation and time in which a step was last completed or a person continued the job. Missing before that.
     */
    gotOn: z.exactOptional(z.object({ generation: count, at: storedTime })),
    /** The number of failed steps. Received messages and crashes do not count. */
    attempts: count,
    /** The worker that runs the job, and how long no other worker may. */
    lease: z.exactOptional(
      z.object({
        owner: string,
        since: storedTime,
        until: storedTime,
        /** Set if the run started alone in its process, until another run starts there. */
        alone: z.exactOptional(z.literal(true)),
      }),
    ),
    /**
     * Set if the last run crashed, so that the job is suspect (process-runs.ts). Contains the start times of the runs
     * that crashed in a row, each alone in its process.
     */
    crashes: z.exactOptional(z.array(storedTime)),
    /** When a `waiting` job is due, unless it is in line. `claim` returns the job with this time. */
    dueAt: maybeTime,
    /**
     * Set while the job is in a waiting line, and until its next run ends: `main#background`, or
     * `main#background#defects/create` if that operation fails.
     */
    line: maybe,
    /** When the job probably sends, if that is not `dueAt`: it is in line, or it runs before its slot opens. */
    expectedAt: maybeTime,
    /** The job's waits between runs. Missing if there was none. */
    waits: z.exactOptional(newestShape<Waited>()),
    decisions: z.exactOptional(newestShape<OperatorDecision>()),
    /** The operator's decision to end the job, until the worker has told the person who asked. */
    discarded: z.exactOptional(z.object({ by: string, reason: string })),
    /** The steps that the last run began and did not finish. The journal gets each step when it ends. */
    unfinished: z.exactOptional(
      z.array(
        z.object({
          step: string,
          calls: string,
          startedAt: storedTime,
          resumedAt: maybeTime,
          sends: z.exactOptional(newestShape<Send>()),
        }),
      ),
    ),
    /** While the job waits: until when the service may still carry out its creation without a clear answer. */
    openUntil: maybeTime,
    /** The last 429 that the job met, and what `limited` of lib/service/connection/breakers.ts returned for it. */
    limited: z.exactOptional(z.object({ operation: string, served: count })),
    /** The last question that the job asked in Slack. */
    question: z.exactOptional(questionShape),
    /** For people: what was done, or why it was not done. */
    outcome: maybe,
    parked: z.exactOptional(parkedShape),
  }),
);

export type Job = z.output<typeof jobShape>;
export type JobDraft = Pick<Job, 'id' | 'lane' | 'entity' | keyof ReturnType<typeof drafted>>;
export type ReplyTo = NonNullable<Job['replyTo']>;
export type Asked = NonNullable<Job['asked']>;
export type WrittenLine = NonNullable<Asked['comment']>;
export type Unproven = NonNullable<Asked['unproven']>;
export type Cause = NonNullable<Job['cause']>;
export type Question = z.output<typeof questionShape>;
export type UnfinishedStep = NonNullable<Job['unfinished']>[number];
export type Limited = NonNullable<Job['limited']>;
export type Parked = NonNullable<Job['parked']>;
export type OpenOutcome = NonNullable<Parked['open']>;

/** Returns the current wait of a job. */
export const waitOf = ({ status, waits }: Pick<Job, 'status' | 'waits'>): Waited | undefined =>
  status === 'waiting' ? waits?.newest.at(-1) : undefined;

/** Returns when a job ended or was parked. */
export const endedAt = (job: Pick<Job, 'status' | 'wakeAt'>): number | undefined =>
  hasEnded(job) ? job.wakeAt : undefined;

/** True if a creating step was sent and its outcome is unknown. */
export const isOutcomeUnknown = ({ parked }: Pick<Job, 'parked'>): boolean => parked?.kind === 'outcome unknown';

/** True if only a person's answer continues the job. */
export const asksQuestion = ({ parked }: Pick<Job, 'parked'>): boolean => parked?.asks === true;

/** Returns the question that the job waits for in Slack. */
export const questionOf = (job: Pick<Job, 'status' | 'waits' | 'question'>): Question | undefined =>
  waitOf(job)?.for === 'question' ? job.question : undefined;

/** Names the people who may answer a question, for operators. */
export function whoIsAsked({ to }: Question, { asked }: Pick<Job, 'asked'>): string {
  if ('channelId' in to) return `somebody in the channel ${to.channelId}`;
  return (asked?.by?.id === to.userId && asked.byName) || to.userId;
}

/** Returns since when a job waits for a worker to claim it. */
export const queuedSince = ({ queuedAt, createdAt }: Pick<Job, 'queuedAt' | 'createdAt'>): number =>
  queuedAt ?? createdAt;

const SHORT_NAME_LENGTH = 6;
const DIGEST_LENGTH = 20;

/**
 * Returns when a waiting job continues.
 * - a time in epoch milliseconds, which is a forecast until the job is called from the line
 * - `probed` if the job continues as soon as a probe succeeds, which may be the probe of another job
 * - undefined if unknown
 */
export function continuesAt(job: Job): { at: number; isForecast: boolean } | 'probed' | undefined {
  const kind = waitOf(job)?.for;
  // A time of the job is then only that of its next look or probe.
  if (kind === 'key' || kind === 'outage') return 'probed';
  const { dueAt, expectedAt = dueAt } = job;
  // The relay only looks whether the operator has done something.
  const isUnknown = expectedAt === undefined || kind === 'operator';
  return isUnknown ? undefined : { at: expectedAt, isForecast: dueAt === undefined };
}

/** True if the job has ended for good. */
export const isOver = ({ status }: Pick<Job, 'status'>) => status === 'succeeded' || status === 'not-done';

/** True if the job does not run again unless an operator continues it. */
export const hasEnded = (job: Pick<Job, 'status'>) => isOver(job) || job.status === 'parked';

/**
 * True for a group of a team's automation. While such a job waits, its message sleeps separately or leaves the queue,
 * so that it does not block other jobs of its group.
 */
export const isCustomGroup = (group: string | undefined): boolean => /^own-\d$/.test(group ?? '');

/**
 * True if an operator can discard the job: it is parked, or it waits and belongs to a backfill or a team's automation.
 * A team's job that may have created something must first find out whether it did.
 */
export const canBeDiscarded = ({
  status,
  lane,
  group,
  openUntil,
}: Pick<Job, 'status' | 'lane' | 'group' | 'openUntil'>) =>
  status === 'parked' ||
  (status === 'waiting' && (lane === 'backfill' || (isCustomGroup(group) && openUntil === undefined)));

/** Returns what a person asked for, from the summary: without the name in front, and without private text. */
export function askedIn({ summary }: Pick<Job, 'summary'>): string {
  return summary.slice(summary.indexOf(': ') + 2);
}

/** Returns the status in words for people. */
export function statusInWords({ status, discarded }: Pick<Job, 'status' | 'discarded'>) {
  if (status !== 'not-done') return status;
  return discarded ? 'discarded' : 'not done';
}

/** Says in words for people what the job did, or why it waits or is parked. Empty if there is nothing to say yet. */
export function newsOf(job: Pick<Job, 'status' | 'parked' | 'waits' | 'outcome'>): string {
  const { status, parked, outcome } = job;
  return (status === 'parked' ? parked?.reason : (waitOf(job)?.why ?? outcome)) ?? '';
}

/** Returns the start of the digest in a job's id, which is enough to tell jobs apart in a terminal. */
export function shortName(id: string): string {
  return id.slice(-DIGEST_LENGTH).slice(0, SHORT_NAME_LENGTH);
}

/**
 * Derives a job's id from what happened, not from the delivery. The same event has the same id if two hooks report it,
 * or if it is redelivered or retried.
 */
export function jobId(automation: string, ...happened: readonly (string | number)[]): string {
  // The digest includes the automation, so that the short names of an event's jobs differ.
  return `${automation}-${digest([automation, ...happened])}`;
}
