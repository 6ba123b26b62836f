import { NewerItem } from '../../state/table/unreadable-item.ts';
import { AccountFirst, NeedsOperator, NotDone, PerhapsDone, RetryAt } from '../record/interruption.ts';
import type { Job } from '../record/job.ts';
import type { ForNextRun } from '../record/job-store.ts';
import { DONE_AS_PERSON, NOT_DONE_AS_PERSON, PERHAPS_DONE_AS_PERSON } from '../record/privacy.ts';
import type { Automation } from './automation.ts';
import { crashesInVain, type Ending, endingOf, parkCrashed, parked, sentTooOften } from './ending.ts';
import type { JobSteps } from './job-steps.ts';
import { type CallsOfRun, connected, openRun, type Run } from './open-run.ts';
import { IS_PARKED, type ReplyContent, WHY_IT_WAITS } from './tell-person.ts';
import type { Worker } from './worker.ts';

/** The name of the step that stores why a job is not done. */
const NOT_DONE = 'not done';

/** True for a step of the engine itself, after the automation or beside it. */
export const isOfEngine = (step: string): boolean =>
  step === NOT_DONE || step === 'reply' || step.startsWith(WHY_IT_WAITS) || step.startsWith(IS_PARKED);

/**
 * Runs the automation of a claimed job until the job ends or has to wait.
 * @throws {LeaseLost | UnreadableItem}
 */
export async function runAutomation(
  job: Job,
  deadline: number,
  worker: Worker,
): Promise<{ ending: Ending; forNextRun: ForNextRun } & CallsOfRun> {
  const run = await openRun(job, deadline, worker);
  const connection = worker.connection(job.connection);
  const made = connection && !job.discarded ? connected(run, connection) : undefined;
  const ending = made ? await runToEnd(run, made) : await endWithoutRun(run);
  return { ending, forNextRun: { ...run.forNextRun(), limited: made?.calls.limited() }, ...made };
}

async function endWithoutRun(run: Run): Promise<Ending> {
  const { job, journal, person } = run;
  if (job.discarded) {
    const ending = await discard(run, job.discarded.reason);
    if (ending.ended === 'not-done') await journal.expire();
    return ending;
  }
  await person.parked('needs an operator');
  return parked(`relay.config.ts has no connection '${job.connection}'`, 'needs an operator', journal);
}

async function runToEnd(run: Run, { steps, calls }: ReturnType<typeof connected>): Promise<Ending> {
  const { job, worker, journal, privacy, person } = run;
  let isDone = false;
  try {
    if (crashesInVain(job, journal)) await parkCrashed(job, journal, steps);
    const automation = runnable(run);
    // Checked before the job claims anything that other jobs would have to wait for.
    if (journal.openSteps().length === 0) await calls.slots.ensureShare();
    const said = await resultOf(run, automation, steps);
    await letGo(job, 'succeeded', worker);
    isDone = true;
    await person.outcome(said);
    await journal.expire();
    const outcome = privacy.wasUsed() ? recordOf(said) : said.text;
    return { ended: said.of === 'done' ? 'succeeded' : 'not-done', outcome };
  } catch (error) {
    const ending = endingOf(job, error, journal, { ...worker, bug: run.bug });
    // After `isDone`, only the report of the outcome can have failed.
    if (!isDone) await tellOfEnding(run, ending);
    return ending;
  }
}

/**
 * Returns the job's automation.
 * @throws {NeedsOperator | NewerItem} if the job is in a loop, or this version does not have the automation
 */
function runnable({ job, worker }: Run): Automation {
  const sends = sentTooOften(job, worker.clock());
  if (sends !== undefined)
    throw new NeedsOperator(
      `the job was queued again ${sends} times without progress, more often than its waits explain; report this bug of the relay`,
    );
  const automation = worker.automation(job.automation);
  if (!automation)
    throw new NewerItem(
      `the job of the automation '${job.automation}'`,
      'cannot run here: its file has a fault, was removed or was renamed, or a newer version of the relay has it. Repair what npx partner-relay config check names, restore the file, or discard the job',
    );
  return automation;
}

/**
 * Carries the job out. If the job is not done, keeps the reason in the journal, so that no later run carries it out
 * after all.
 */
async function resultOf(run: Run, automation: Automation, steps: JobSteps): Promise<Told> {
  const { job, journal, once, privacy } = run;
  const before = journal.entry(NOT_DONE);
  const keep = (kept: KeptWords, isPrivate: boolean) =>
    once.run(NOT_DONE, job.automation, async () => kept, isPrivate ? privacy : undefined);
  const said = before ? notDone(await keep('', before.sealed !== undefined)) : await runSteps(automation, job, steps);
  // An object may exist anyway.
  const [undecided] = journal.undecidedSteps();
  if (undecided !== undefined) {
    const { operation } = journal.openRequest(undecided) ?? {};
    const otherwise = privacy.wasUsed() ? '' : `. Otherwise: ${said.text}`;
    throw new NeedsOperator(`it is unknown whether ${operation ?? undecided} created something${otherwise}`);
  }
  if (said.of === 'not done') {
    const { of: _, ...words } = said;
    // A person who read the message may have asked again in different words.
    await keep(words, privacy.wasUsed());
  }
  return said;
}

async function tellOfEnding({ person }: Run, ending: Ending): Promise<void> {
  if (ending.ended === 'parked') await person.parked(ending.kind);
  if (ending.ended !== 'waits') return;
  const { wait } = ending;
  if (wait instanceof RetryAt) return person.waiting(wait.expectedAt ?? wait.dueAt, wait.waitsFor);
  // The end of an outage is unknown, and a job in line does not run again before it. So the person has to be told now.
  await person.waiting(wait.waitsFor === 'budget' ? wait.expectedAt : undefined, wait.waitsFor);
}

/** Returns the outcome in the records for a job that acted as the person who asked. */
function recordOf(said: Told): string {
  if (said.of === 'not done') return said.isUnclear ? PERHAPS_DONE_AS_PERSON : NOT_DONE_AS_PERSON;
  return said.id === undefined ? DONE_AS_PERSON : `${DONE_AS_PERSON}; its id in the service is ${said.id}`;
}

/** For comments on GitHub, because everybody can read them and the operator's reason is not public. */
const DISCARDED_IN_PUBLIC = 'an administrator of Partner Relay has discarded this request.';

/** Ends a job that an operator has discarded. */
async function discard(run: Run, reason: string): Promise<Ending> {
  const { job, worker, journal, person } = run;
  const said = `your request was discarded: ${reason}`;
  try {
    await letGo(job, 'parked', worker);
    await person.outcome(job.replyTo?.in === 'github' ? notDone(DISCARDED_IN_PUBLIC) : notDone(said));
  } catch (error) {
    const ending = endingOf(job, error, journal, { ...worker, bug: run.bug });
    if (ending.ended !== 'parked') return ending;
    // The job was parked before, and the operator has decided. The next job settles any claim that this one leaves
    // behind.
    worker.report({ news: 'untold', job, error: ending.reason });
  }
  return { ended: 'not-done', outcome: `discarded: ${reason}` };
}

/** Releases what the job holds outside its own record. */
export async function letGo(job: Job, ending: 'succeeded' | 'parked', { automation, jobs }: Worker): Promise<void> {
  const isHeld = async () => (await jobs.lease(job)?.isHeld()) ?? false;
  await automation(job.automation)?.letGo?.(job, ending, isHeld);
}

type Told = ReplyContent & { of: 'done' | 'not done' };

/** The words for the person that the journal keeps if the job is not done. */
type KeptWords = string | Pick<Told, 'text' | 'blocks' | 'link' | 'isUnclear'>;

const notDone = (kept: KeptWords): Told => ({ of: 'not done', ...(typeof kept === 'string' ? { text: kept } : kept) });

async function runSteps(automation: Automation, job: Job, steps: JobSteps): Promise<Told> {
  try {
    const outcome = await automation.run(job, steps);
    return { of: 'done', ...(typeof outcome === 'string' ? { text: outcome } : outcome) };
  } catch (error) {
    if (error instanceof NotDone)
      return notDone({
        text: error.message,
        blocks: error.blocks,
        ...(error instanceof AccountFirst && { link: error.scopes }),
        ...(error instanceof PerhapsDone && { isUnclear: true }),
      });
    throw error;
  }
}
