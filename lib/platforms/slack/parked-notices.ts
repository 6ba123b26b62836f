import type { SectionBlock } from '@slack/types';
import * as z from 'zod/mini';
import { commandsOf, nextStepOfParked, parkKindOf, withDocs } from '../../engine/line/next-step.ts';
import { type ParkedGroup, parkedGroups } from '../../engine/operate/parked-groups.ts';
import { NeedsOperator, RetryAt } from '../../engine/record/interruption.ts';
import { type Job, newsOf } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import { cutToLength } from '../../text.ts';
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
/** Keep the message far below the size that Slack refuses with `msg_blocks_too_long`, which it does not document. */
const CAUSES = 8;
const JOBS_NAMED = 3;
const MAX_LINE_LENGTH = 200;
const MAX_REASON_LENGTH = 500;
/** The longest standstill, such as a machine that is off, after which everything is still told. */
const LOOKED_BACK_MS = 14 * 24 * HOUR;

/** Up to which hour everything is told. */
const PLACE = 'place';
const place = z.object({ toldTo: z.number() });

/** The notice of one hour. */
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
 * Tells the contact's channel which jobs are parked: one message for each hour, by cause, which is updated while the
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

  /** @returns false if another run may still post it */
  async function tellHour(hour: number): Promise<boolean> {
    const groups = await parkedGroups(jobs.parkedBetween(hour, hour + HOUR - 1), CAUSES, JOBS_NAMED);
    if (groups.length === 0) return true;
    const name = new Date(hour).toISOString();
    const known = notice.safeParse(await table.get(keys.parkedNotice(name))).data;
    if (known?.ts === undefined) return post(name, known, groups);
    const { told, lastAt } = shownOf(groups);
    // If a job was replayed and another one was parked after it, the number stays the same.
    if ((known.told ?? 0) < told || (known.lastAt ?? 0) < lastAt) await update(name, known, known.ts, groups);
    return true;
  }

  async function post(name: string, known: Notice | undefined, groups: readonly ParkedGroup[]): Promise<boolean> {
    const begunAt = known?.begunAt ?? clock();
    if (!(await claim(name, begunAt, known))) return false;
    const reply = slackMessage({ channelId: channel }, `parked ${name}`, textOf(groups, stage), { slack, clock });
    const earlier = known && (await reply.find(begunAt).catch(unlessRefused));
    try {
      const sent = earlier ?? (await reply.make(() => {}));
      // An earlier run showed jobs that are not known any more.
      if ('ts' in sent) await store(name, { begunAt, ts: sent.ts, ...(!earlier && shownOf(groups)) });
      return true;
    } catch (error) {
      // Slack did not post it, so there is nothing to search for.
      const isClear = error instanceof NeedsOperator || error instanceof RetryAt;
      if (isClear) await table.delete(keys.parkedNotice(name));
      throw error;
    }
  }

  async function update(name: string, known: Notice, ts: string, groups: readonly ParkedGroup[]): Promise<void> {
    const { text, blocks } = textOf(groups, stage);
    try {
      await slack.call('chat.update', { channel, ts, text, blocks }, z.object({}));
    } catch (error) {
      // A person may have deleted the message. They know about it then.
      if (!(error instanceof SlackRefusal)) throw error;
    }
    await store(name, { ...known, ...shownOf(groups) });
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

function shownOf(groups: readonly ParkedGroup[]): { told: number; lastAt: number } {
  return {
    told: groups.reduce((sum, { count }) => sum + count, 0),
    lastAt: Math.max(...groups.map(({ lastAt }) => lastAt)),
  };
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR) * HOUR;
}

/** Telling something twice is better than not at all. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof NeedsOperator)) throw error;
}

function textOf(groups: readonly ParkedGroup[], stage: string | undefined): SlackMessage {
  return message([section(headline(groups)), ...groups.flatMap((group) => sectionsOf(group, stage))]);
}

function headline(groups: readonly ParkedGroup[]): string {
  const { told } = shownOf(groups);
  const since = `since ${time(Math.min(...groups.map(({ first }) => first[0].wakeAt)))}`;
  return `:octagonal_sign: *${told === 1 ? 'A job is' : `${told} jobs are`} parked* ${since}.`;
}

/** The first jobs of one cause, the reason, and what to do. */
function sectionsOf(group: ParkedGroup, stage: string | undefined): SectionBlock[] {
  const { cause, count, first } = group;
  const next = nextStepOfParked(parkKindOf(first[0]));
  const commands = count === 1 ? commandsOf(first[0], next) : ['jobs --status parked'];
  const relay = `npm run -s relay -- ${stage === undefined ? '' : `--stage ${stage} `}`;
  const others = count > first.length ? [`• and ${count - first.length} more`] : [];
  const lines =
    cause === undefined
      ? ['Other causes:', ...first.map((job) => named(`${job.summary} ${why(job)}`)), ...others]
      : [...first.map(({ summary }) => named(summary)), ...others, why(first[0])];
  return [
    plainSection(lines.join('\n')),
    section(`${withDocs(next)}\n\`\`\`${commands.map((command) => relay + escaped(command)).join('\n')}\`\`\``),
  ];
}

function named(text: string): string {
  return cutToLength(`• ${text}`, MAX_LINE_LENGTH, '…');
}

function why(job: Job): string {
  return cutToLength(`Reason: ${newsOf(job)}`, MAX_REASON_LENGTH, '…');
}
