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

/** A table item holds 400 KB, and a summary has to fit into one line of a terminal. */
export const MOST_INPUT_BYTES = 8_192;
const MOST_DRAFTS = 50;
const SUMMARY_LENGTH = 200;
const LONGEST_REASON = 300;
/** A GitHub repository name with an issue number is shorter. */
const LONGEST_ENTITY = 600;
/** A date in 1973. Epoch seconds, which GitHub also uses, are smaller numbers. */
const EARLIEST_MS = 1e11;
/** The latest time that a Date can represent. */
const LATEST_MS = 8.64e15;
/** How far other clocks may be ahead. */
const MOST_AHEAD_MS = 3_600_000;
/** Excludes other texts that `Date.parse` accepts, such as `1`. */
const ISO_DATE = /^\d{4}-\d\d/;

/**
 * The event is too large for an input, or has a value that the table cannot hold. A repeated delivery would fail in the
 * same way.
 */
export class NotKept extends TeamMistake {}

/** The fields that all jobs of an event have in common. */
export type EventPlace = Pick<JobDraft, 'connection' | 'summary' | 'cause' | 'asked' | 'stranger' | 'replyTo'> & {
  /** The default entity of the jobs. */
  entity: string;
};

/**
 * Reads the jobs that an automation drafts for an event, or the reason why it drafts none.
 *
 * @param drafted the result of its `job`; the types of the team's file are not checked at run time
 * @param now epoch milliseconds
 * @throws {TeamMistake | ThrownByTeam} naming the wrong field, without its value
 */
export function customDrafts(
  name: string,
  { input }: Pick<CustomTrigger, 'input'>,
  drafted: unknown,
  place: EventPlace,
  now: number,
): Taken {
  if (typeof drafted === 'string') return cutToLength(drafted, LONGEST_REASON, '…');
  // Getters and proxies run the team's code, too.
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

/** Creates the draft of a custom automation's job. */
export const customJob = (name: string, { happened, ...draft }: EventOf<JobInput>): JobDraft => ({
  ...draft,
  id: jobId(name, ...happened),
  automation: name,
  group: customGroup(`${name} ${draft.entity}`),
});
