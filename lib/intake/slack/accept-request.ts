import { canonicalJson } from '../../digest.ts';
import { acceptEvent } from '../../engine/line/accept-event.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import type { JobSignatures } from '../../engine/record/job-signatures.ts';
import type { TakingCommand, Turns } from '../../people/turns.ts';
import { sealText } from '../../platforms/slack/sealed-text.ts';
import type { Runtime, Stores } from '../../runtime.ts';

export interface AcceptOptions
  extends Pick<Runtime, 'randomBytes' | 'log' | 'metrics'>,
    Pick<Stores, 'jobs' | 'queue' | 'secrets'> {
  turns: Turns;
  signatures: JobSignatures;
}

/** A person who requests a job. */
export interface JobRequest extends TakingCommand {
  userId: string;
  /** The `trigger_id` or the form of the request. */
  happened: string;
}

/**
 * The result of accepting a job. `safe`: the job is stored, and the person may be told. `before`: the same form was
 * accepted earlier with another input, which stays.
 */
export type Accepted = 'safe' | 'before' | 'too many';

/** Stores and queues a person's job, unless too many of their jobs are unfinished. */
export async function acceptRequest(asked: JobDraft, request: JobRequest, options: AcceptOptions): Promise<Accepted> {
  const { turns, jobs, queue, signatures, log, metrics } = options;
  const { userId, happened } = request;
  const turn = await turns.take({ in: 'slack', id: userId }, asked.id, { ...request, isHidden: !asked.replyTo });
  if (turn === 'too many') return turn;
  const replyTo = await sealed(asked, options);
  const cause = { from: 'slack', id: happened, person: userId } as const;
  const draft: JobDraft = { ...asked, ...turn, cause, replyTo };
  const { job, repeat } = await acceptEvent(draft, { jobs, queue, signatures });
  metrics.record({ EventsTaken: 1 });
  log.info({ message: repeat ? 'repeat received' : 'job queued', jobId: job.id, summary: job.summary });
  return !repeat || canonicalJson(job.input) === canonicalJson(draft.input) ? 'safe' : 'before';
}

/**
 * Seals the address of the reply. With a response_url, anyone can write to the person in the app's name for half an
 * hour, and more roles may read the table.
 */
async function sealed({ id, replyTo }: JobDraft, by: AcceptOptions): Promise<JobDraft['replyTo']> {
  if (replyTo?.in !== 'slack' || replyTo.responseUrl === undefined) return replyTo;
  return { ...replyTo, responseUrl: await sealText('response_url', replyTo.responseUrl, [id], by) };
}
