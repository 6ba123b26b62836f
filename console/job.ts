import { nextStep } from '../lib/engine/line/next-step.ts';
import { type Job, shortName, waitOf } from '../lib/engine/record/job.ts';
import type { StepEntry } from '../lib/engine/record/journal.ts';
import { forAndAgainst, type OpenCreation, readJob } from '../lib/engine/record/read-job.ts';
import type { Send as JobSend } from '../lib/engine/record/sends.ts';
import { createShowJob } from '../lib/people/names.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import { triggerInWords } from '../local/own-in-words.ts';
import { findPage } from './find-page.ts';
import { periodsOf } from './periods.ts';
import type { ConsoleRelay, OperatedRelay } from './relay.ts';
import type { JobAction } from './requests.ts';
import { rowOf } from './row.ts';
import { createAsNow } from './waits-on.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Where the task ends and the note begins is known only to the job's run, which looks the task up. */
function asTyped(input: unknown): unknown {
  const { open, task, note, ...rest } = Object(input) as Readonly<Record<string, unknown>>;
  return open === undefined ? input : { ...rest, typed: [task, note].filter(Boolean).join(' ') };
}

type ShownRelay = OperatedRelay & Partial<Pick<ConsoleRelay, 'try'>>;

/** Returns all data about a job. @throws {HttpError} if there is no such job */
export async function jobDetail(relay: ShownRelay, id: string) {
  const { stores, runtime } = relay;
  const read = (whole: string) => readJob(whole, stores);
  const view = (await read(id)) ?? (await read((await idOf(relay, id)) ?? id));
  if (!view)
    throw new HttpError(404, `there is no job ${id}, or several have this short name; ended jobs are kept for 30 days`);
  const { steps, openCreations } = view;
  const job = await createAsNow(stores)(view.job);
  const own = runtime.custom.list.find(({ name }) => name === job.automation);
  const { attempts, generation, input, cause, decisions } = job;
  return {
    ...rowOf(job, await createShowJob(stores)(job)),
    attempts,
    generation,
    /** The event that the team's file takes. */
    trigger: own && triggerInWords(own, runtime.config.slack?.command),
    /** The event that made the job. */
    cause: cause && { from: cause.from, id: cause.id, event: cause.event },
    delivery: cause?.from === 'github' ? cause.id : undefined,
    input: withoutSecrets(asTyped(input)),
    steps: steps.map(detailOf),
    periods: periodsOf(job, steps, stores.clock()),
    decisions: decisions?.newest ?? [],
    next: brokenInTry(job, relay) ?? nextOf(job, stores.clock()),
    openCreations: openCreations.map((creation) => creationOf(creation, steps, stores.clock())),
  };
}

/** The id of a job with this short name, which the pages and the terminal show. Only newer jobs are found. */
async function idOf(relay: OperatedRelay, name: string): Promise<string | undefined> {
  const { jobs } = await findPage(relay, { text: name });
  const [found, another] = jobs.filter(({ id }) => shortName(id) === name);
  return another ? undefined : found?.id;
}

/** For the pages, which show times in the reader's zone. */
const isoTime = (ms: number) => new Date(ms).toISOString();

/** The sandbox has no other key or address to enter. */
function brokenInTry(job: Job, relay: ShownRelay) {
  if (!/^(outage|key)$/.test(waitOf(job)?.for ?? '') || !relay.try?.isBroken()) return undefined;
  const next = nextOf(job, relay.stores.clock());
  return { ...next, text: 'You broke the sandbox: repair it in Try. Then the job continues by itself.' };
}

export function nextOf(job: Parameters<typeof nextStep>[0], now: number) {
  const { text, choices = [], docs } = nextStep(job, isoTime, now) ?? { text: 'Nothing to do: it is done.' };
  const actions: JobAction['do'][] = [...choices];
  return { text, actions, docs };
}

function detailOf({ failures, sends, sealed, sent, result, ...entry }: StepEntry) {
  return {
    ...entry,
    // The journal's name of the engine's own step.
    step: entry.step === 'not done' ? 'note the reason' : entry.step,
    result: withoutSecrets(result),
    sends: sends?.newest.map(sendOf) ?? [],
    olderSends: sends?.older ?? 0,
  };
}

function sendOf({ calls, sentAt, endedAt, came, status, why, sameBytes }: JobSend) {
  return {
    calls,
    sentAt,
    answeredAt: endedAt,
    answer: came === 'invalid' && status === undefined ? 'not sent' : answerOf(came),
    httpStatus: status,
    why,
    sameBytes,
  };
}

/**
 * The outcome of a send:
 *
 * - `lost`: no answer came, so it is unknown whether the service carried it out.
 * - `unclear`: the answer does not say whether the service did (5xx, unreadable).
 * - `not sent`: the request never left.
 * - `answered`: the service refused to take the same bytes twice, as expected.
 */
function answerOf(came: JobSend['came']): 'accepted' | 'answered' | 'refused' | 'lost' | 'unclear' | 'not sent' {
  switch (came) {
    case 'accepted':
    case 'not sent':
      return came;
    case 'nonce already used':
      return 'answered';
    case 'no answer':
      return 'lost';
    case 'server error':
    case 'unreadable':
    case 'contradictory':
      return 'unclear';
    default:
      return 'refused';
  }
}

function creationOf(creation: OpenCreation, steps: readonly StepEntry[], now: number) {
  const { step, operation: calls, marker, until, isSought, isChecked, again } = creation;
  const { sends } = steps.find((one) => one.step === step) ?? {};
  const notBefore =
    until > now ? ` Not possible before ${isoTime(until)}: until then the service may still create it.` : '';
  const { createdId = 'id' } = operations.get(calls) ?? {};
  const thing = createdId === 'id' ? 'object' : createdId.replace('_id', '');
  const mark = marker === undefined ? '' : ' and has the marker of this job';
  return {
    step,
    calls,
    again,
    forAndAgainst: forAndAgainst(creation, sends?.newest ?? [], now, isoTime),
    sends: sends?.newest.map(sendOf) ?? [],
    marker,
    /** The kind of id that a person enters if the object exists: `Id of the defect`. */
    idLabel: createdId === 'id' ? undefined : `Id of the ${thing}`,
    consequences: {
      done: `With its id, the job continues, and creates nothing. The relay ${isChecked ? `first checks that it exists${mark}` : 'cannot check the id'}.`,
      again: isSought
        ? `The relay searches once more, and creates the ${thing} only if it finds none.${notBefore} If one exists that the search does not show, there will be two.`
        : `The relay cannot search for the ${thing}, and creates it again.${notBefore} If it exists, there will be two.`,
      search:
        'The relay searches once more. If the search finds it, the job continues. If not, the job is parked again. Nothing is created.',
    },
  };
}
