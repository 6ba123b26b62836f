import type { Taken } from '../../engine/line/accept-taken.ts';
import { customGroup } from '../../engine/line/queue.ts';
import { type JobDraft, jobId } from '../../engine/record/job.ts';
import type { EventOf } from '../../engine/record/job-kind.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import { onOneLine } from '../../outside.ts';
import { cutToLength } from '../../text.ts';
import type { CustomTrigger } from '../../triggers/custom-automation.ts';
import type { Draft, JobInput } from '../../triggers/trigger.ts';
import { foreignIn } from './json.ts';
import { ofTeam, TeamMistake } from './thrown.ts';

/** An item of the table holds 400 KB, and a summary is for a line in a terminal. */
export const MOST_INPUT_BYTES = 8_192;
const MOST_DRAFTS = 50;
const SUMMARY_LENGTH = 200;
const LONGEST_REASON = 300;
/** The name of a repository of GitHub, with the number of an issue, is shorter. */
const LONGEST_ENTITY = 600;
/** In 1973. GitHub has times in seconds, too, and these are less. */
const EARLIEST_MS = 1e11;
/** The last time that a Date can be. */
const LATEST_MS = 8.64e15;
/** By how much the clocks of others may be ahead. */
const MOST_AHEAD_MS = 3_600_000;
/** Other texts are read as a time, too, such as `1`. */
const ISO_DATE = /^\d{4}-\d\d/;

/** The event has more than an input takes, or what the table does not hold. It would be the same when it comes again. */
export class NotKept extends TeamMistake {}

/** What an event says of all jobs that are made of it. */
export type EventPlace = Pick<JobDraft, 'connection' | 'summary' | 'cause' | 'asked' | 'stranger' | 'replyTo'> & {
  /** What the jobs are about, unless the automation says otherwise. */
  entity: string;
};

/**
 * The jobs that an automation makes of an event, or why it makes none.
 *
 * @param drafted what its `job` returned. The types of its file are not checked at run time
 * @param now epoch milliseconds
 * @throws {TeamMistake | ThrownByTeam} that names the field which is wrong, without its value
 */
export function customDrafts(
  name: string,
  { input }: Pick<CustomTrigger, 'input'>,
  drafted: unknown,
  place: EventPlace,
  now: number,
): Taken {
  if (typeof drafted === 'string') return cutToLength(drafted, LONGEST_REASON, '…');
  // Getters and proxies are code of the team, too.
  return ofTeam(() => {
    const drafts: unknown[] = [drafted].flat();
    if (drafts.length > MOST_DRAFTS)
      throw new TeamMistake(`job returned ${drafts.length} jobs for one event; ${MOST_DRAFTS} is the most`);
    return drafts.map((draft) => {
      if (Object.prototype.toString.call(draft) !== '[object Object]')
        throw new TeamMistake('job returns neither a draft nor a list of drafts nor the reason why there is none');
      const { happened, at, entity = place.entity, title, input: given } = draft as Partial<Draft<unknown>>;
      const summary = cutToLength(`${name}: ${place.summary}`, SUMMARY_LENGTH, '…');
      const read = {
        happened: readIdentity(happened),
        entity: readEntity(entity),
        input: readInput(input, given),
        ...(title !== undefined && { title: readTitle(title) }),
      };
      const time = readTime(at, now);
      return {
        draft: customJob(name, { ...place, ...read, summary, lane: 'background' }),
        at: time,
        isForGood: time === undefined,
      };
    });
  });
}

function readIdentity(happened: unknown): Draft<unknown>['happened'] {
  const given: readonly unknown[] = Array.isArray(happened) ? happened : [];
  ensureKept(given, 'happened');
  const [first, ...others] = given.map((part, index) => {
    if (typeof part === 'number' || (typeof part === 'string' && part !== '')) return part;
    throw new TeamMistake(`happened.${index} is neither a text nor a number`);
  });
  if (first !== undefined) return [first, ...others];
  throw new TeamMistake('happened is missing: name what tells this event from any other, such as [release.id]');
}

function readEntity(entity: unknown): string {
  ensureKept(entity, 'entity');
  if (typeof entity === 'string' && entity !== '' && entity.length <= LONGEST_ENTITY) return entity;
  throw new TeamMistake(`entity is not a text of 1 to ${LONGEST_ENTITY} characters`);
}

function readTitle(title: unknown): string {
  ensureKept(title, 'title');
  if (typeof title === 'string' && title.trim() !== '') return cutToLength(onOneLine(title), SUMMARY_LENGTH, '…');
  throw new TeamMistake('title is not a text, or is empty');
}

function readInput(schema: CustomTrigger['input'], given: unknown): JobInput {
  const read = schema.safeParse(given);
  if (!read.success)
    throw new TeamMistake(`the input of a job is not as the file declares it: ${refusedFields(read.error.issues)}`);
  ensureKept(read.data, 'input');
  const kept = structuredClone(read.data);
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  if (bytes <= MOST_INPUT_BYTES) return kept;
  throw new NotKept(`the input of a job has ${bytes} bytes; ${MOST_INPUT_BYTES} is the most`);
}

function ensureKept(value: unknown, field: string): void {
  const foreign = foreignIn(value, field);
  if (!foreign) return;
  const why = `${foreign.field} is a ${foreign.is}, which is not kept; convert it to a text`;
  throw foreign.isJson ? new NotKept(why) : new TeamMistake(why);
}

function readTime(at: unknown, now: number): number | undefined {
  if (at === undefined || at === null) return undefined;
  const ms = typeof at === 'string' && ISO_DATE.test(at) ? Date.parse(at) : at;
  if (typeof ms !== 'number' || !(ms <= LATEST_MS))
    throw new TeamMistake('at is not a time; write ISO 8601 or epoch milliseconds');
  if (ms < EARLIEST_MS) throw new TeamMistake('at is in seconds, or before 1973; write milliseconds');
  if (ms <= now + MOST_AHEAD_MS) return ms;
  const [given, clock] = [ms, now].map((time) => new Date(time).toISOString());
  throw new TeamMistake(`at is ${given}, and the clock is ${clock}; at says when it happened, not when it is due`);
}

/** A job of a team's automation. */
export const customJob = (name: string, { happened, ...draft }: EventOf<JobInput>): JobDraft => ({
  ...draft,
  id: jobId(name, ...happened),
  automation: name,
  group: customGroup(`${name} ${draft.entity}`),
});
