import { ownGroup } from '../../engine/line/queue.ts';
import { type JobDraft, jobId } from '../../engine/record/job.ts';
import type { EventOf } from '../../engine/record/job-kind.ts';
import { cutToLength } from '../../text.ts';
import type { OwnTrigger } from '../../triggers/own-automation.ts';
import type { Draft, Drafted, JobInput } from '../../triggers/trigger.ts';

/** An item of the table holds 400 KB, and a summary is for a line in a terminal. */
export const MOST_INPUT_BYTES = 8_192;
const MOST_DRAFTS = 50;
const SUMMARY_LENGTH = 200;
/** In 1973. GitHub has times in seconds, too, and these are less. */
const EARLIEST_MS = 1e11;

/** What an event says of all jobs that are made of it. */
export type OwnPlace = Pick<JobDraft, 'connection' | 'summary' | 'cause' | 'asked' | 'stranger' | 'replyTo'> & {
  /** What the jobs are about, unless the automation says otherwise. */
  entity: string;
};

/** A job, and when its event happened, in epoch milliseconds; undefined if the automation does not say. */
export interface OwnDraft {
  draft: JobDraft;
  at: number | undefined;
}

/**
 * The jobs that an automation makes of an event, or why it makes none.
 * @throws {Error} that says what is wrong with what the automation returned
 */
export function ownDrafts(name: string, { input }: OwnTrigger, drafted: Drafted<JobInput>, place: OwnPlace) {
  if (typeof drafted === 'string') return drafted;
  const drafts = [drafted].flat() as readonly Draft<JobInput>[];
  if (drafts.length > MOST_DRAFTS)
    throw new Error(`job made ${drafts.length} jobs of one event; ${MOST_DRAFTS} is the most`);
  return drafts.map((draft): OwnDraft => ({ draft: jobOf(name, input, draft, place), at: timeOf(draft) }));
}

function jobOf(
  name: string,
  schema: OwnTrigger['input'],
  { happened, input, entity }: Draft<JobInput>,
  place: OwnPlace,
): JobDraft {
  const isIdentity = Array.isArray(happened) && happened.length > 0 && happened.every(isPart);
  if (!isIdentity)
    throw new Error('happened is missing: name what tells this event from any other, such as [release.id]');
  const read = schema.safeParse(input);
  if (!read.success) {
    const fields = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new Error(`the input of a job is not as the file declares it: ${fields}`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(read.data));
  if (bytes > MOST_INPUT_BYTES)
    throw new Error(`the input of a job has ${bytes} bytes; ${MOST_INPUT_BYTES} is the most`);
  const summary = cutToLength(`${name}: ${place.summary}`, SUMMARY_LENGTH, '…');
  const about = { entity: entity ?? place.entity, summary, lane: 'background' } as const;
  return ownJob(name, { ...place, ...about, happened, input: read.data });
}

/** A job of a team's automation. */
export const ownJob = (name: string, { happened, ...draft }: EventOf<JobInput>): JobDraft => ({
  ...draft,
  id: jobId(name, ...happened),
  automation: name,
  group: ownGroup(`${name} ${draft.entity}`),
});

const isPart = (part: unknown) => (typeof part === 'string' && part !== '') || Number.isFinite(part);

function timeOf({ at }: Draft<JobInput>): number | undefined {
  if (at === undefined || at === null) return undefined;
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (typeof at === 'number' && at < EARLIEST_MS)
    throw new Error(`at is ${at}, which is in seconds; give milliseconds`);
  if (!Number.isFinite(ms)) throw new Error(`at is '${at}', which is no time; give ISO 8601 or epoch milliseconds`);
  return ms;
}
