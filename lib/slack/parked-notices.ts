import * as z from 'zod/mini';
import { digest } from '../digest.ts';
import { NeedsOperator, RetryAt } from '../jobs/interruption.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { commandsOf, nextStep } from '../jobs/next-step.ts';
import { type ParkedGroup, parkedGroups } from '../jobs/parked-groups.ts';
import { expiry } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { cutToLength } from '../text.ts';
import { message, plainSection, type SlackMessage, section } from './messages.ts';
import { escaped, time } from './mrkdwn.ts';
import { slackMessage } from './replies.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';

export interface ParkedNoticesOptions {
  table: Table;
  jobs: Pick<JobStore, 'parkedBetween'>;
  slack: SlackApi;
  /** `contactChannel` of the configuration. */
  channel: string;
  /** The stage in the commands of a notice. Undefined on one machine. */
  stage: string | undefined;
  clock: () => number;
  log: Pick<Console, 'warn'>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The index of parked jobs may lag behind, so an hour is read again for a while. */
const INDEX_LAG_MS = 5 * MINUTE;
/** Longer than a run of the sweep. */
const CLAIM_MS = 2 * MINUTE;
/** A higher count would tell a person nothing more. */
const COUNTED_UP_TO = 1_000;
const GROUPS_PER_HOUR = 10;
const JOBS_NAMED = 5;
const MAX_LINE_LENGTH = 300;
/** After a longer standstill, older jobs are not told one by one. The alarm on parked jobs counts them. */
const LOOKED_BACK_MS = 24 * HOUR;

/** Up to which hour everything is told. */
const PLACE = 'place';
const place = z.object({ toldTo: z.number() });

/** The notice of one group and hour. */
const notice = z.object({
  /** When the first try to post it began. */
  begunAt: z.number(),
  /** Until when one run may post it. */
  claimedUntil: z.optional(z.number()),
  /** Set once it is posted, with the number of jobs that it shows. */
  ts: z.optional(z.string()),
  told: z.optional(z.number()),
});
type Notice = z.output<typeof notice>;

/**
 * Tells the contact's channel which jobs are parked: one message for each cause and hour, which is updated while the
 * number of jobs grows. The parked jobs themselves are the outbox, so no notice is lost and nothing here can fail a
 * job. A message that may have been posted is searched for before it is posted again.
 */
export function createParkedNotices({ table, jobs, slack, channel, stage, clock, log }: ParkedNoticesOptions) {
  async function tellHours(): Promise<void> {
    const thisHour = hourOf(clock());
    for (let hour = await firstHour(); hour <= thisHour; hour += HOUR) {
      const parked = await jobs.parkedBetween(hour, hour + HOUR - 1, COUNTED_UP_TO);
      for (const group of parkedGroups(parked, GROUPS_PER_HOUR)) await tell(hour, group);
      if (clock() < hour + HOUR + INDEX_LAG_MS) continue;
      await table.put({ ...keys.parkedNotice(PLACE), toldTo: hour + HOUR });
    }
  }

  async function firstHour(): Promise<number> {
    const known = place.safeParse(await table.get(keys.parkedNotice(PLACE)));
    if (known.success) return Math.max(known.data.toldTo, hourOf(clock() - LOOKED_BACK_MS));
    // The setting is new. What was parked long before it is not news.
    const toldTo = hourOf(clock() - HOUR);
    await table.put({ ...keys.parkedNotice(PLACE), toldTo });
    return toldTo;
  }

  async function tell(hour: number, group: ParkedGroup): Promise<void> {
    const name = `${new Date(hour).toISOString()}#${digest(group.cause === undefined ? 'other' : [group.outcomeUnknown, group.cause])}`;
    const known = notice.safeParse(await table.get(keys.parkedNotice(name))).data;
    if (known?.ts === undefined) await post(name, known, group);
    else if ((known.told ?? 0) < group.jobs.length) await update(name, known, known.ts, group);
  }

  async function post(name: string, known: Notice | undefined, group: ParkedGroup): Promise<void> {
    const begunAt = known?.begunAt ?? clock();
    if (!(await claim(name, begunAt, known))) return;
    const reply = slackMessage({ channelId: channel }, `parked ${name}`, textOf(group, stage), { slack, clock });
    const earlier = known && (await reply.find(begunAt).catch(unlessRefused));
    // An earlier run posted it, with a number of jobs that is not known any more.
    if (earlier && 'ts' in earlier) return store(name, { begunAt, ts: earlier.ts, told: 0 });
    try {
      const sent = await reply.make();
      if ('ts' in sent) await store(name, { begunAt, ts: sent.ts, told: group.jobs.length });
    } catch (error) {
      // Slack did not post it, so there is nothing to search for.
      const isClear = error instanceof NeedsOperator || error instanceof RetryAt;
      if (isClear) await table.delete(keys.parkedNotice(name));
      throw error;
    }
  }

  async function update(name: string, known: Notice, ts: string, group: ParkedGroup): Promise<void> {
    const { text, blocks } = textOf(group, stage);
    try {
      await slack.call('chat.update', { channel, ts, text, blocks }, z.object({}));
    } catch (error) {
      // A person may have deleted the message. They know about it then.
      if (!(error instanceof SlackRefusal)) throw error;
    }
    await store(name, { ...known, told: group.jobs.length });
  }

  /** @returns false if another run posts the notice, or has posted it since `known` was read */
  async function claim(name: string, begunAt: number, known: Notice | undefined): Promise<boolean> {
    const { claimedUntil } = known ?? {};
    if (claimedUntil !== undefined && claimedUntil > clock()) return false;
    const asRead =
      claimedUntil === undefined
        ? { expression: 'attribute_not_exists(#pk)' }
        : { expression: '#claimedUntil = :claimedUntil', values: { claimedUntil } };
    return table.put({ ...itemOf(name), begunAt, claimedUntil: clock() + CLAIM_MS }, asRead);
  }

  async function store(name: string, posted: Notice): Promise<void> {
    await table.put({ ...itemOf(name), ...posted });
  }

  const itemOf = (name: string) => ({ ...keys.parkedNotice(name), expiresAt: expiry(clock()) });

  return {
    /** Tells what is not told yet. Never fails: what could not be told is told by a later run. */
    async tell(): Promise<void> {
      try {
        if (await slack.isThere()) await tellHours();
      } catch (error) {
        log.warn({ message: 'the contact channel could not be told about parked jobs', channel, error: String(error) });
      }
    },
  };
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR) * HOUR;
}

/** Telling something twice is better than not at all. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NeedsOperator)) throw error;
}

function textOf({ cause, jobs }: ParkedGroup, stage: string | undefined): SlackMessage {
  const [first] = jobs;
  const isOne = jobs.length === 1;
  const next = nextStep(first);
  const commands = isOne && next ? commandsOf(first, next) : ['jobs --status parked'];
  const relay = `npm run -s relay -- ${stage === undefined ? '' : `--stage ${stage} `}`;
  return message([
    section(`:octagonal_sign: ${headline(cause, jobs)}.`),
    plainSection(isOne || cause !== undefined ? [...named(jobs), why(first)].join('\n') : named(jobs, why).join('\n')),
    section(`${next?.text}\n\`\`\`${commands.map((command) => relay + escaped(command)).join('\n')}\`\`\``),
  ]);
}

function headline(cause: string | undefined, jobs: ParkedGroup['jobs']): string {
  const since = `since ${time(jobs[0].wakeAt)}`;
  if (jobs.length === 1) return `*A job is parked* ${since}`;
  const count = jobs.length >= COUNTED_UP_TO ? `${COUNTED_UP_TO} or more` : jobs.length;
  return `*${count} jobs are parked* ${cause === undefined ? 'for several causes' : 'for one cause'}, ${since}`;
}

function why({ parked }: Job): string {
  return `Reason: ${parked?.reason ?? ''}`;
}

/** One line for each of the first jobs. */
function named(jobs: readonly Job[], more: (job: Job) => string = () => ''): string[] {
  const lines = jobs
    .slice(0, JOBS_NAMED)
    .map((job) => cutToLength(`• ${job.summary} ${more(job)}`.trim(), MAX_LINE_LENGTH, '…'));
  return jobs.length > lines.length ? [...lines, `• and ${jobs.length - lines.length} more`] : lines;
}
