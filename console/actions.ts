import * as z from 'zod';
import { resolveJob } from '../lib/engine/operate/resolve.ts';
import { discardJob, replayJob } from '../lib/engine/operate/resume.ts';
import type { Job } from '../lib/engine/record/job.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import { messageOf } from '../lib/text.ts';
import { readSent } from './read-sent.ts';
import type { OperatedRelay } from './relay.ts';
import { type ActionResult, type JobAction, jobAction } from './requests.ts';
import { verifyWithService } from './verify.ts';
import { whyWaitsOn } from './waits-on.ts';

/** The most jobs that one request may change. */
const AT_ONCE = 100;
const UNREADABLE = 'this is not a decision about jobs';

const id = z.string().min(1).max(200);
const many = z.object({ ids: z.array(id).min(1).max(AT_ONCE) });

/**
 * Carries out an operator's decision about one or several jobs, each on its own.
 *
 * @param given as in the contract, not checked yet
 * @param jobId of the path; without it, the body names the jobs
 * @throws {HttpError} if the decision is invalid
 */
export async function decide(relay: OperatedRelay, given: unknown, jobId?: string): Promise<ActionResult> {
  const decision = readSent(jobAction, given, UNREADABLE);
  const ids = jobId === undefined ? [...new Set(readSent(many, given, UNREADABLE).ids)] : [jobId];
  if (decision.do === 'done' && ids.length > 1) {
    throw new HttpError(400, 'the id of what was created belongs to one job: decide each on its own');
  }
  const results: ActionResult['results'] = [];
  // In turn, so that a hundred jobs do not crowd the relay out of its table.
  for (const id of ids) results.push({ id, ...(await decideOne(relay, id, decision)) });
  return { results };
}

async function decideOne(
  relay: OperatedRelay,
  id: string,
  decision: JobAction,
): Promise<{ ok: boolean; text: string }> {
  const job = await relay.stores.jobs.get(id);
  if (!job) return { ok: false, text: 'This job no longer exists.' };
  try {
    await applyDecision(relay, job, decision);
    const waitsOn = decision.do === 'replay' ? await whyWaitsOn(job, relay.stores) : undefined;
    return {
      ok: true,
      text: waitsOn
        ? `${waitsOn}. The job waits until that is over. To try now, resume the connection on Now.`
        : DONE[decision.do],
    };
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

const DONE: Readonly<Record<JobAction['do'], string>> = {
  replay: 'Queued: the job continues where it stopped.',
  answer: 'Queued: the job continues with the answer.',
  discard: 'Discarded: the job ends without the rest.',
  done: 'Queued: the job continues with this id.',
  again: 'Queued: the job creates it again, unless a last search finds it.',
  search: 'Queued: the job searches once more.',
};

/** Applies a decision to a job. @throws {Error} if the job is in another state */
async function applyDecision({ stores, runtime, operator: by }: OperatedRelay, job: Job, decision: JobAction) {
  switch (decision.do) {
    case 'discard':
      return discardJob(job, { by, reason: decision.reason }, stores);
    case 'done': {
      const resolution = { done: decision.createdId, verify: verifyWithService({ runtime, stores }) };
      return resolveJob(job, resolution, { ...stores, by });
    }
    case 'again':
    case 'search':
      return resolveJob(job, decision.do, { ...stores, by });
    case 'replay':
      return replayJob(job, { by }, stores);
    case 'answer':
      return replayJob(job, { by, reason: decision.answer }, stores);
  }
}
