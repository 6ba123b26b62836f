import { isDeepStrictEqual } from 'node:util';
import type { SectionBlock } from '@slack/types';
import * as z from 'zod/mini';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../dates.ts';
import { digest } from '../digest.ts';
import { commandsOf, nextStepOfParked, withDocs } from '../engine/line/next-step.ts';
import type { ShowJob } from '../engine/operate/find-jobs.ts';
import { type ParkedGroup, parkedGroups } from '../engine/operate/parked-groups.ts';
import { type Job, newsOf, statusInWords } from '../engine/record/job.ts';
import type { JobStore } from '../engine/record/job-store.ts';
import { message, plainSection, section } from '../platforms/slack/messages.ts';
import { escaped, nextMinute, time } from '../platforms/slack/mrkdwn.ts';
import { SlackRefusal, TOKEN_ERRORS } from '../platforms/slack/slack-api.ts';
import { keys } from '../state/table/keys.ts';
import { ifReadable } from '../state/table/unreadable-item.ts';
import { cutToLength } from '../text.ts';
import { createNoticePosts, type Notice, type NoticePostsOptions } from './notice-posts.ts';

export interface ParkedNoticesOptions extends NoticePostsOptions {
  jobs: Pick<JobStore, 'parkedBetween' | 'get'>;
  shown: ShowJob;
  /** The stage in the commands of a notice. Undefined on one machine. */
  stage: string | undefined;
}

/** How long an hour is read again, because the index of parked jobs may lag behind. */
const INDEX_LAG_MS = 5 * MINUTE_MS;
/**
 * The limit of causes in a message. It keeps the message far below the undocumented size that Slack refuses with
 * `msg_blocks_too_long`.
 */
const CAUSES = 8;
const JOBS_NAMED = 3;
const DECISIONS_NAMED = 10;
/** A limit, because an item holds 400 KB. */
const JOBS_KEPT = 2_000;
const MAX_LINE_LENGTH = 200;
const MAX_REASON_LENGTH = 500;
/**
 * The longest standstill, such as a machine that is off, after which all notices are still posted, including those
 * about decided jobs.
 */
const LOOKED_BACK_MS = 14 * DAY_MS;

/** The item with the last complete hour, and with earlier hours whose notices still have jobs to decide. */
const PLACE = 'place';
const place = z.object({ toldTo: z.number(), undecided: z.array(z.number()) });

/** The jobs of an hour that are still parked: by id, when each was parked. */
type StillParked = ReadonlyMap<string, number>;

/**
 * Tells the contact's channel which jobs are parked: one message for each hour, by cause. The message is updated when
 * more jobs are parked and when a person decides about one. The parked jobs themselves are the outbox, so no notice is
 * lost, and no failure here affects a job. The relay searches for a message that may have been posted before it posts
 * it again.
 */
export function createParkedNotices(options: ParkedNoticesOptions) {
  const { table, jobs, shown, slack, channel, stage, clock } = options;
  const posts = createNoticePosts(options);

  async function tellHours(): Promise<void> {
    const before = await readPlace();
    const after = { toldTo: before.toldTo, undecided: [] as number[] };
    for (const hour of before.undecided) {
      if (hour >= clock() - LOOKED_BACK_MS && (await tellHour(hour)) !== 'decided') after.undecided.push(hour);
    }
    for (let hour = before.toldTo; hour <= hourOf(clock()); hour += HOUR_MS) {
      const told = await tellHour(hour);
      if (told === 'untold' || after.toldTo !== hour || clock() < hour + HOUR_MS + INDEX_LAG_MS) continue;
      after.toldTo = hour + HOUR_MS;
      if (told === 'undecided') after.undecided.push(hour);
    }
    if (!isDeepStrictEqual(before, after)) await table.put({ ...keys.parkedNotice(PLACE), ...after });
  }

  async function readPlace(): Promise<z.output<typeof place>> {
    const known = place.safeParse(await table.get(keys.parkedNotice(PLACE))).data;
    if (known) return { ...known, toldTo: Math.max(known.toldTo, hourOf(clock() - LOOKED_BACK_MS)) };
    // The setting is new. Jobs that were parked long before it are not news.
    const begun = { toldTo: hourOf(clock() - HOUR_MS), undecided: [] };
    await table.put({ ...keys.parkedNotice(PLACE), ...begun });
    return begun;
  }

  /** Posts or updates the notice of an hour. @returns `untold` if another run may still post it */
  async function tellHour(hour: number): Promise<'untold' | 'undecided' | 'decided'> {
    const { groups, parked } = await parkedIn(hour);
    const name = new Date(hour).toISOString();
    const known = await posts.read(name);
    if (known?.ts !== undefined) await update(name, known, known.ts, groups, parked);
    else if (
      parked.size > 0 &&
      !(await posts.post(name, known, sectionsOf(groups, parked, stage, clock()), toldIn(parked)))
    )
      return 'untold';
    return parked.size > 0 ? 'undecided' : 'decided';
  }

  async function parkedIn(hour: number): Promise<{ groups: ParkedGroup[]; parked: StillParked }> {
    const parked = new Map<string, number>();
    async function* pages() {
      for await (const page of jobs.parkedBetween(hour, hour + HOUR_MS - 1)) {
        for (const { id, wakeAt } of page) parked.set(id, wakeAt);
        yield Promise.all(page.map(shown));
      }
    }
    return { groups: await parkedGroups(pages(), CAUSES, JOBS_NAMED), parked };
  }

  async function update(
    name: string,
    known: Notice,
    ts: string,
    groups: readonly ParkedGroup[],
    parked: StillParked,
  ): Promise<void> {
    const told = toldIn(parked, known.jobs);
    if (told.says === known.says) return;
    const over = told.jobs.filter((id) => !parked.has(id));
    const decided = [];
    for (const id of over.slice(0, DECISIONS_NAMED)) {
      const job = await ifReadable(jobs.get(id));
      decided.push(job ? decisionOf(await shown(job)) : 'a job that has expired');
    }
    const { text, blocks } = message([
      ...sectionsOf(groups, parked, stage, clock()),
      ...decisionSection(decided, over.length, told.jobs.length < JOBS_KEPT),
    ]);
    try {
      await slack.call('chat.update', { channel, ts, text, blocks }, z.object({}));
    } catch (error) {
      // A person who deleted the message knows about it. A refused token can be replaced, so the message is updated
      // later.
      if (!(error instanceof SlackRefusal) || TOKEN_ERRORS.has(error.error)) throw error;
    }
    await posts.store(name, { ...known, ...told });
  }

  return {
    /** Posts the notices that are left. */
    tell: (): Promise<void> => posts.tryToTell('about parked jobs', tellHours),
  };
}

/** @param told the jobs that the notice has already named */
function toldIn(parked: StillParked, told: readonly string[] = []): Required<Pick<Notice, 'jobs' | 'says'>> {
  const jobs = [...new Set([...told, ...parked.keys()])].slice(0, JOBS_KEPT);
  return { jobs, says: digest([...parked]) };
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function sectionsOf(
  groups: readonly ParkedGroup[],
  parked: StillParked,
  stage: string | undefined,
  now: number,
): SectionBlock[] {
  const { size } = parked;
  if (size === 0) return [section(':white_check_mark: *None of the jobs of this message is parked any more.*')];
  const since = time(Math.min(...parked.values()));
  const headline = `:octagonal_sign: *${size === 1 ? 'A job has' : `${size} jobs have`} been parked since ${since}.*`;
  return [section(headline), ...groups.flatMap((group) => sectionsOfGroup(group, stage, now))];
}

/** Lists the decisions about jobs that the message named before. */
function decisionSection(decided: readonly string[], count: number, isAll: boolean): SectionBlock[] {
  const others = count > decided.length ? [`• and ${isAll ? '' : 'more than '}${count - decided.length} more`] : [];
  return count === 0 ? [] : [plainSection(['Decided:', ...decided.map(named), ...others].join('\n'))];
}

function decisionOf(job: Job): string {
  const { what, by, reason } = job.decisions?.newest.at(-1) ?? { what: statusInWords(job), by: undefined };
  return `${job.summary}: ${what}${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Lists the first jobs of one cause, the reason, and what to do. */
function sectionsOfGroup(group: ParkedGroup, stage: string | undefined, now: number): SectionBlock[] {
  const { cause, count, first, last } = group;
  const next = nextStepOfParked(last.parked, nextMinute, now, last.wakeAt);
  const commands = count === 1 ? commandsOf(last, next) : ['jobs --status parked'];
  const relay = `npx partner-relay ${stage === undefined ? '' : `--stage ${stage} `}`;
  const others = count > first.length ? [`• and ${count - first.length} more`] : [];
  const lines =
    cause === undefined
      ? ['Other causes:', ...first.map((job) => named(`${job.summary} ${why(job)}`)), ...others]
      : [...first.map(({ summary }) => named(summary)), ...others, why(first[0], count === 1 ? undefined : cause)];
  return [
    plainSection(lines.join('\n')),
    section(`${withDocs(next)}\n\`\`\`${commands.map((command) => relay + escaped(command)).join('\n')}\`\`\``),
  ];
}

function named(text: string): string {
  return cutToLength(`• ${text}`, MAX_LINE_LENGTH, '…');
}

/** @param cause the reason of several jobs, without what differs */
function why(job: Job, cause = newsOf(job)): string {
  return cutToLength(`${job.parked?.asks ? 'Question' : 'Reason'}: ${cause}`, MAX_REASON_LENGTH, '…');
}
