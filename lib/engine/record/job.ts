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
 * - `succeeded`, `not-done`, `parked`: ended. Of a job that is not done the person was told why, or an operator discarded
 *   it; a parked job waits for an operator
 */
export type JobStatus = (typeof jobStatuses)[number];
export const jobStatuses = ['queued', 'running', 'waiting', 'parked', 'succeeded', 'not-done'] as const;

/**
 * Why a job was parked, without text from outside, for public places.
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

/** What the index of waiting lines shows of a job, too. Times are epoch milliseconds. */
export const standingShape = {
  /** From {@link jobId}. */
  id: string,
  /** Counts how often it was deliberately queued. A message of an older generation is stale. */
  generation: count,
  lane: z.enum(lanes),
  /**
   * The subject of the job, `acme/web#42`, or in people's lanes the person, `slack-U0123ABCD`. Jobs with the same
   * entity run one after the other, unless they have a group.
   */
  entity: string,
  createdAt: storedTime,
  /** After it is called from the line: when its slot opens. */
  slotAt: maybeTime,
};

/** The part of a job that comes from its event. */
const drafted = () => ({
  automation: string,
  connection: string,
  /** Jobs of one group run one after the other, in parallel with other jobs of their entity. */
  group: maybe,
  /** Its first run does not wait for its turn in the line, because a person waits for its answer. */
  startsAtOnce: z.exactOptional(z.literal(true)),
  /** The event in one line, for people. */
  summary: string,
  /** What was understood of it, in one line. Lists show it in place of the summary. No log has it. */
  title: maybe,
  /** The automation's input. As JSON it must stay well below the 400 KB of an item. */
  input: z.record(string, z.unknown()),
  /** Where a person requested the job and gets its outcome. */
  replyTo: z.exactOptional(
    z.discriminatedUnion('in', [
      z.object({
        in: z.literal('slack'),
        userId: string,
        /** Where they asked; missing for forms. */
        channelId: maybe,
        /**
         * Set for commands and buttons, valid for half an hour; sealed in a stored job
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
      /** The verb of their command. */
      verb: maybe,
      /** The person: a Slack user id or a GitHub login. */
      by: z.exactOptional(z.object({ in: z.enum(['slack', 'github']), id: string })),
      /** Their name, as Slack told it. */
      byName: maybe,
      /**
       * When they asked, in a comment or in a job that is signed. The signature covers it, and not the job's `createdAt`.
       */
      at: maybeTime,
      /** The comment on GitHub, and a digest of its line, which may be long. It can change before the job runs. */
      comment: z.exactOptional(z.object({ id: count, line: string })),
      /** A person whose permission the event does not show. */
      unproven: z.exactOptional(
        z.object({
          /** Without it, they have none. */
          login: maybe,
          /** The event shows a member or a collaborator, but not the role. Without credentials for GitHub, that has to do. */
          isShown: z.exactOptional(z.boolean()),
          /** Where they need it, if that is not where the answer goes. */
          in: z.exactOptional(z.object({ repository: string, installationId: z.exactOptional(count) })),
          /** What to reply on the issue if they have no permission. Without it, there is no reply. */
          otherwise: maybe,
        }),
      ),
    }),
  ),
  /** Proves that intake made the job: `JobSignatures` in lib/engine/record/job-signatures.ts. Missing in jobs that act as no person. */
  signature: maybe,
  /** Login of the outside contributor who caused it; see lib/service/budget/stranger-share.ts. */
  stranger: maybe,
  /** The revision of the event's state: how often the state of its link had changed when it was stored. */
  revision: z.exactOptional(count),
  /** The event that intake accepted, as an operator looks for it. The job's id does not depend on it. */
  cause: z.exactOptional(
    z.object({
      from: z.enum(['github', 'slack', 'schedule', 'webhook', 'job']),
      /**
       * GitHub's `X-GitHub-Delivery`, the `trigger_id` or form of Slack, the time of the schedule (ISO 8601), the name of
       * a webhook of the team, or the job that made this one. If an event came several times, it is the first of its
       * deliveries.
       */
      id: string,
      /** `issues.opened`, `issue_comment.created`. */
      event: maybe,
      /** The GitHub login or the Slack user id that caused it. */
      person: maybe,
      /** The trace that the request named: lib/state/http/trace.ts. */
      trace: maybe,
    }),
  ),
});

export const parkedShape = z.object({
  reason: string,
  kind: z.enum(parkKinds),
  /** The creation whose outcome is unknown. Missing if the journal cannot be read. */
  open: z.exactOptional(
    z.object({
      operation: string,
      /** Until then, the service may still carry it out. */
      until: storedTime,
      /** The relay can search for what it created. */
      isSought: z.boolean(),
      /** The service can be asked about an id that a person gives. */
      isChecked: z.boolean(),
    }),
  ),
  /** The reason is a question, and only an answer continues the job. */
  asks: z.exactOptional(z.literal(true)),
});

const questionShape = z.object({
  step: string,
  /** Who may answer: a person, or the members of a channel. */
  to: z.union([z.object({ userId: string }), z.object({ channelId: string })]),
  until: storedTime,
  /** A digest of each choice, in the order of their buttons. */
  choices: z.array(string),
  /** What a person chose, sealed (lib/platforms/slack/answers.ts), or `none` once it has ended without an answer. */
  answer: maybe,
});

/** The record of a job. Built for the first that is read: a webhook reads one only for a repeat. */
export const jobShape = z.lazy(() =>
  z.object({
    ...standingShape,
    ...drafted(),
    status: z.enum(jobStatuses),
    /** When it was last queued again. A job that was sent again because no worker had claimed it keeps its time. */
    queuedAt: maybeTime,
    /** When the sweep should check the job. For ended jobs: when they ended. */
    wakeAt: storedTime,
    /** The generation and the time in which a step was last done, or a person continued it. Missing before that. */
    gotOn: z.exactOptional(z.object({ generation: count, at: storedTime })),
    /** Failed steps. Receiving a message does not count as an attempt, and neither does a crash. */
    attempts: count,
    /** The worker that runs it, and until when no other worker may. */
    lease: z.exactOptional(
      z.object({
        owner: string,
        since: storedTime,
        until: storedTime,
        /** Nothing else has run in the worker's process since it was claimed. */
        alone: z.exactOptional(z.literal(true)),
      }),
    ),
    /**
     * Set if its last run crashed, which makes it suspect (process-runs.ts): when the runs began that crashed one after the
     * other, each alone in its process.
     */
    crashes: z.exactOptional(z.array(storedTime)),
    /** When a `waiting` job is due, unless it is in line. The worker that claims it reads when it was due. */
    dueAt: maybeTime,
    /**
     * Set while the job is in a waiting line, and until its next run ends: `main#background`, or
     * `main#background#defects/create` if that operation fails.
     */
    line: maybe,
    /** When it probably sends, if that is not `dueAt`: it is in line, or is awake before its slot opens. */
    expectedAt: maybeTime,
    /** Its waits between two runs. Missing if there was none. */
    waits: z.exactOptional(newestShape<Waited>()),
    decisions: z.exactOptional(newestShape<OperatorDecision>()),
    /** The operator's decision to end it, until the worker has told the person who asked. */
    discarded: z.exactOptional(z.object({ by: string, reason: string })),
    /** The steps that the last run began and did not finish. The journal gets each when it ends. */
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
    /** Until when the service may carry out a creation of it without a clear answer, while it waits. */
    openUntil: maybeTime,
    /** The last 429 that it met, and what `limited` of lib/service/connection/breakers.ts returned for it. */
    limited: z.exactOptional(z.object({ operation: string, served: count })),
    /** The last question that it has asked in Slack. */
    question: z.exactOptional(questionShape),
    /** What was done, or why it is not done, for people. */
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

/** The wait that a job is in. */
export const waitOf = ({ status, waits }: Pick<Job, 'status' | 'waits'>): Waited | undefined =>
  status === 'waiting' ? waits?.newest.at(-1) : undefined;

/** When a job ended or was parked. */
export const endedAt = (job: Pick<Job, 'status' | 'wakeAt'>): number | undefined =>
  hasEnded(job) ? job.wakeAt : undefined;

/** True if a creating step was sent and it is unknown whether it was executed. */
export const isOutcomeUnknown = ({ parked }: Pick<Job, 'parked'>): boolean => parked?.kind === 'outcome unknown';

/** True if the job continues with a person's answer only. */
export const asksQuestion = ({ parked }: Pick<Job, 'parked'>): boolean => parked?.asks === true;

/** The question that the job waits for in Slack. */
export const questionOf = (job: Pick<Job, 'status' | 'waits' | 'question'>): Question | undefined =>
  waitOf(job)?.for === 'question' ? job.question : undefined;

/** Who may answer a question, for operators. */
export function whoIsAsked({ to }: Question, { asked }: Pick<Job, 'asked'>): string {
  if ('channelId' in to) return `somebody in the channel ${to.channelId}`;
  return (asked?.by?.id === to.userId && asked.byName) || to.userId;
}

/** Since when a job waits for a worker to claim it. */
export const queuedSince = ({ queuedAt, createdAt }: Pick<Job, 'queuedAt' | 'createdAt'>): number =>
  queuedAt ?? createdAt;

const SHORT_NAME_LENGTH = 6;
const DIGEST_LENGTH = 20;

/**
 * When a waiting job continues, in epoch milliseconds: `probed` as soon as a probe finds that its calls work again, which
 * another job can make; undefined if unknown. Until a job is called from the line, its time is a forecast.
 */
export function continuesAt(job: Job): { at: number; isForecast: boolean } | 'probed' | undefined {
  const kind = waitOf(job)?.for;
  // The time of a job that probes with a refused key is that of the probe alone.
  if (kind === 'key' || (kind === 'outage' && job.line !== undefined)) return 'probed';
  const { dueAt, expectedAt = dueAt } = job;
  return expectedAt === undefined ? undefined : { at: expectedAt, isForecast: dueAt === undefined };
}

/** @param time writes a time as its reader should see it, from epoch milliseconds */
export function continuesInWords(
  when: NonNullable<ReturnType<typeof continuesAt>>,
  time: (ms: number) => string,
  now: number,
): string {
  if (when === 'probed') return 'continues as soon as its calls work again';
  if (when.at <= now) return 'continues in a moment';
  return `looks again at ${when.isForecast ? 'about ' : ''}${time(when.at)}`;
}

/** True if nothing follows, whatever an operator decides. */
export const isOver = ({ status }: Pick<Job, 'status'>) => status === 'succeeded' || status === 'not-done';

/** True if no run of the job follows, unless an operator continues it. */
export const hasEnded = (job: Pick<Job, 'status'>) => isOver(job) || job.status === 'parked';

/** Others must not wait for a job of such a group: while it waits, its message sleeps apart, or leaves the queue. */
export const isCustomGroup = (group: string | undefined): boolean => /^own-\d$/.test(group ?? '');

/**
 * True if an operator can end it undone: a job that cannot continue, or one of a backfill or a team that waits. What a job
 * of a team may have created is found out first.
 */
export const canBeDiscarded = ({
  status,
  lane,
  group,
  openUntil,
}: Pick<Job, 'status' | 'lane' | 'group' | 'openUntil'>) =>
  status === 'parked' ||
  (status === 'waiting' && (lane === 'backfill' || (isCustomGroup(group) && openUntil === undefined)));

/** What a person asked for, as the summary shows it: without the name in front, and without private text. */
export function askedIn({ summary }: Pick<Job, 'summary'>): string {
  return summary.slice(summary.indexOf(': ') + 2);
}

/** The status in words for people. */
export function statusInWords({ status, discarded }: Pick<Job, 'status' | 'discarded'>) {
  if (status !== 'not-done') return status;
  return discarded ? 'discarded' : 'not done';
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
  // With the automation, so that short names of jobs of one event differ.
  return `${automation}-${digest([automation, ...happened])}`;
}
