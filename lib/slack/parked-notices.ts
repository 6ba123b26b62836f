import * as z from 'zod/mini';
import { digest } from '../digest.ts';
import { NeedsOperator, RetryAt } from '../jobs/interruption.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { commandsOf, nextStepOfParked, parkKindOf, withDocs } from '../jobs/next-step.ts';
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
const GROUPS_PER_HOUR = 10;
const JOBS_NAMED = 5;
const MAX_LINE_LENGTH = 300;
/** The longest standstill, such as a machine that is off, after which everything is still told. */
const LOOKED_BACK_MS = 14 * 24 * HOUR;

/** Up to which hour everything is told. */
const PLACE = 'place';
const place = z.object({ toldTo: z.number() });

/** The notice of one group and hour. */
const notice = z.object({
  /** When the first try to post it began. */
  begunAt: z.number(),
  /** Until when one run may post it. */
  claimedUntil: z.optional(z.number()),
  /** Set once it is posted, with the number of jobs that it shows, and when the last of them was parked. */
  ts: z.optional(z.string()),
  told: z.optional(z.number()),
  lastAt: z.optional(z.number()),
});
type Notice = z.output<typeof notice>;

/**
 * Tells the contact's channel which jobs are parked: one message for each cause and hour, which is updated while the
 * number of jobs grows. The parked jobs themselves are the outbox, so no notice is lost and nothing here can fail a
 * job. A message that may have been posted is searched for before it is posted again.
 */
export function createParkedNotices({ table, jobs, slack, channel, stage, clock, log }: ParkedNoticesOptions) {
  async function tellHours(): Promise<void> {
    const [before, thisHour] = [await firstHour(), hourOf(clock())];
    let toldTo = before;
    for (let hour = before; hour <= thisHour; hour += HOUR) {
      const isTold = await tellHour(hour);
      if (isTold && toldTo === hour && clock() >= hour + HOUR + INDEX_LAG_MS) toldTo = hour + HOUR;
    }
    if (toldTo > before) await table.put({ ...keys.parkedNotice(PLACE), toldTo });
  }

  async function firstHour(): Promise<number> {
    const known = place.safeParse(await table.get(keys.parkedNotice(PLACE)));
    if (known.success) return Math.max(known.data.toldTo, hourOf(clock() - LOOKED_BACK_MS));
    // The setting is new. What was parked long before it is not news.
    const toldTo = hourOf(clock() - HOUR);
    await table.put({ ...keys.parkedNotice(PLACE), toldTo });
    return toldTo;
  }

  /** @returns false if another run may still post some of it */
  async function tellHour(hour: number): Promise<boolean> {
    const parked = jobs.parkedBetween(hour, hour + HOUR - 1);
    let isTold = true;
    for (const group of await parkedGroups(parked, GROUPS_PER_HOUR, JOBS_NAMED)) {
      isTold = (await tell(nameOf(hour, group), group)) && isTold;
    }
    return isTold;
  }

  async function tell(name: string, group: ParkedGroup): Promise<boolean> {
    const known = notice.safeParse(await table.get(keys.parkedNotice(name))).data;
    if (known?.ts === undefined) return post(name, known, group);
    // A job that was parked after another one was replayed leaves the number as it was.
    if ((known.told ?? 0) < group.count || (known.lastAt ?? 0) < group.lastAt)
      await update(name, known, known.ts, group);
    return true;
  }

  async function post(name: string, known: Notice | undefined, group: ParkedGroup): Promise<boolean> {
    const begunAt = known?.begunAt ?? clock();
    if (!(await claim(name, begunAt, known))) return false;
    const reply = slackMessage({ channelId: channel }, `parked ${name}`, textOf(group, stage), { slack, clock });
    const earlier = known && (await reply.find(begunAt).catch(unlessRefused));
    try {
      const sent = earlier ?? (await reply.make());
      // An earlier run showed jobs that are not known any more.
      if ('ts' in sent) await store(name, { begunAt, ts: sent.ts, ...(!earlier && shownOf(group)) });
      return true;
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
    await store(name, { ...known, ...shownOf(group) });
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

function nameOf(hour: number, { cause, outcomeUnknown }: ParkedGroup): string {
  return `${new Date(hour).toISOString()}#${digest(cause === undefined ? 'other' : [outcomeUnknown, cause])}`;
}

const shownOf = ({ count, lastAt }: ParkedGroup): Pick<Notice, 'told' | 'lastAt'> => ({ told: count, lastAt });

function hourOf(at: number): number {
  return Math.floor(at / HOUR) * HOUR;
}

/** Telling something twice is better than not at all. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NeedsOperator)) throw error;
}

function textOf(group: ParkedGroup, stage: string | undefined): SlackMessage {
  const { cause, count, first } = group;
  const next = nextStepOfParked(parkKindOf(first[0]));
  const commands = count === 1 ? commandsOf(first[0], next) : ['jobs --status parked'];
  const relay = `npm run -s relay -- ${stage === undefined ? '' : `--stage ${stage} `}`;
  const others = count > first.length ? [`• and ${count - first.length} more`] : [];
  const jobs =
    cause === undefined
      ? [...first.map((job) => named(`${job.summary} ${why(job)}`)), ...others]
      : [...first.map(({ summary }) => named(summary)), ...others, why(first[0])];
  return message([
    section(`:octagonal_sign: ${headline(group)}.`),
    plainSection(jobs.join('\n')),
    section(`${withDocs(next)}\n\`\`\`${commands.map((command) => relay + escaped(command)).join('\n')}\`\`\``),
  ]);
}

function headline({ cause, count, first }: ParkedGroup): string {
  const since = `since ${time(first[0].wakeAt)}`;
  if (count === 1) return `*A job is parked* ${since}`;
  return `*${count} jobs are parked* ${cause === undefined ? 'for several causes' : 'for one cause'}, ${since}`;
}

function named(text: string): string {
  return cutToLength(`• ${text}`, MAX_LINE_LENGTH, '…');
}

function why({ parked }: Job): string {
  return `Reason: ${parked?.reason ?? ''}`;
}
