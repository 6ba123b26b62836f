import { createLinkWaits } from '../../as-person/grants/link-waits.ts';
import type { Connection } from '../../service/connection/connection.ts';
import type { CallNews } from '../line/calling-run.ts';
import { createStrangerTurn } from '../line/stranger-turn.ts';
import type { WaitsFor } from '../record/history.ts';
import { NeedsOperator, NotDone } from '../record/interruption.ts';
import type { Job, UnfinishedStep } from '../record/job.ts';
import { type Journal, openJournal } from '../record/journal.ts';
import { createPrivacy, DONE_AS_PERSON, NOT_DONE_AS_PERSON, type Privacy } from '../record/privacy.ts';
import { happenedAt } from '../record/replaced-table.ts';
import type { Automation } from './automation.ts';
import { createCreations } from './creations.ts';
import { type Ending, endingOf, MAX_ATTEMPTS, parked } from './ending.ts';
import { LinkAwaited } from './link-awaited.ts';
import { createOnce, type Once, type SendNews, type StepNews } from './once.ts';
import { createPartnerCalls, type PartnerCalls } from './partner-calls.ts';
import { createReplySteps } from './reply-steps.ts';
import { sentTooOften } from './sent-too-often.ts';
import { createSteps, type Steps } from './steps.ts';
import { createTellPerson, type ReplyContent, type TellPerson } from './tell-person.ts';
import { createToolSteps, type ToolStepsOfRun } from './tools/steps.ts';
import type { Worker } from './worker.ts';

/** The step that stores why a job is not done. */
const NOT_DONE = 'not done';

/** What the next run of a job needs to know of this one. */
export interface LeftByRun {
  unfinished: readonly UnfinishedStep[];
  hasGotOn: boolean;
}

/** What a run made its calls with; nothing where its connection is gone. */
export interface CallsOfRun {
  calls?: PartnerCalls;
  tools?: ToolStepsOfRun;
}

/** One run of a job, before it is known whether its connection exists. */
interface Run {
  job: Job;
  worker: Worker;
  journal: Journal;
  once: Once;
  /** Seals what is for the person who asked alone. */
  privacy: Privacy;
  person: TellPerson;
  linkWaits: ReturnType<typeof createLinkWaits>;
  replySteps: ReturnType<typeof createReplySteps>;
  deadline: number;
  /** Before anything of a person is read. @throws {NeedsOperator} */
  ensureOfIntake: () => Promise<void>;
  report: (news: StepNews | SendNews | CallNews) => void;
  left: () => LeftByRun;
}

/**
 * Runs the automation of a claimed job until it ends, or has to wait.
 * @throws {LeaseLost | UnreadableItem}
 */
export async function runAutomation(
  job: Job,
  deadline: number,
  worker: Worker,
): Promise<{ ending: Ending; left: LeftByRun } & CallsOfRun> {
  const run = await openRun(job, deadline, worker);
  const { journal, person, left } = run;
  if (job.discarded) {
    const ending = await discard(run, job.discarded.reason);
    if (ending.ended === 'succeeded') await journal.expire();
    return { ending, left: left() };
  }
  const connection = worker.connection(job.connection);
  if (!connection) {
    await person.parked('needs an operator');
    const ending = parked(`relay.config.ts has no connection '${job.connection}'`, 'needs an operator', journal);
    return { ending, left: left() };
  }
  const { steps, ensureLeft, ...made } = connected(run, connection);
  const ending = await carryOutToEnd(run, steps, ensureLeft);
  return { ending, left: left(), ...made };
}

async function openRun(job: Job, deadline: number, worker: Worker): Promise<Run> {
  const { table, assistants, replies, clock } = worker;
  const journal = await openJournal(table, job.id, clock, worker.jobs.lease(job));
  const tellOfWait = createTellOfWait(job, worker.report);
  let hasGotOn = false;
  function report(news: StepNews | SendNews | CallNews): void {
    if (news.news === 'step' && news.entry.status === 'done') {
      hasGotOn = true;
      tellOfWait();
    }
    worker.report({ ...news, job });
  }
  const once = createOnce({
    journal,
    clock,
    report,
    unfinished: job.unfinished ?? [],
    isAfterPerson: ['operator', 'person'].includes(job.waits?.newest.at(-1)?.for ?? ''),
  });
  async function ensureOfIntake(): Promise<void> {
    if (!(await worker.signatures.isSigned(job))) throw new NeedsOperator(UNSIGNED);
  }
  const privacy = createPrivacy(job.id, assistants.vault, ensureOfIntake);
  const decisions = createPrivacy(job.id, assistants.vault);
  const replySteps = createReplySteps({ journal, clock, deadline, once, privacy: decisions });
  const failed = (error: unknown) => worker.report({ news: 'untold', job, error });
  const linkWaits = createLinkWaits(table, clock);
  const person = createTellPerson({ job, journal, steps: replySteps, replies, linkWaits, clock, failed });
  const left = () => ({ unfinished: once.unfinished(), hasGotOn });
  return { job, worker, journal, once, privacy, person, linkWaits, replySteps, deadline, ensureOfIntake, report, left };
}

/** @returns the steps of a run, and what it makes its calls with */
function connected(
  { job, worker, journal, once, privacy, replySteps, deadline, ensureOfIntake, report }: Run,
  connection: Connection,
): { steps: Steps; ensureLeft: () => Promise<void> } & Required<CallsOfRun> {
  const { table, replacedTable, budget, breakers, assistants, clock, sleep } = worker;
  const { id: caller, lane, limited } = job;
  const cameBack = job.dueAt !== undefined || job.generation > 1;
  const strangerTurn =
    job.stranger === undefined
      ? undefined
      : createStrangerTurn({ report, connection, share: worker.strangers, login: job.stranger });
  const began = { replacedTable, happenedAt: happenedAt(job) };
  const run = { connection, lane, caller, limited, cameBack, strangerTurn, budget, breakers, clock, sleep, deadline };
  const calls = createPartnerCalls({ ...run, report });
  const creating = createCreations({ calls, table, connection, lane, journal, ...began, clock });
  const tools = createToolSteps({
    ...run,
    ...began,
    assistants,
    journal,
    once,
    privacy,
    awaitedLink: job.awaitedLink,
    bug: (error) => worker.report({ news: 'bug', job, error }),
    isPublic: job.replyTo?.in === 'github',
    ensureOfIntake,
  });
  const steps = createSteps({ connection, calls, creating, journal, once, replies: replySteps, tools });
  return { steps, calls, tools, ensureLeft: async () => strangerTurn?.ensureLeft() };
}

/** @param ensureLeft throws while an outsider's job has to wait for its share */
async function carryOutToEnd(run: Run, steps: Steps, ensureLeft: () => Promise<void>): Promise<Ending> {
  const { job, worker, journal, privacy, person } = run;
  let isDone = false;
  try {
    const automation = runnable(run);
    // Checked before the job claims anything that others would have to wait for.
    if (journal.openSteps().length === 0) await ensureLeft();
    const said = await outcomeOf(run, automation, steps);
    await letGo(job, 'succeeded', worker);
    isDone = true;
    await person.outcome(said);
    await journal.expire();
    const outcome = privacy.wasUsed() ? recordOf(said) : said.text;
    return { ended: 'succeeded', outcome, notDone: said.of === 'not done' };
  } catch (error) {
    const ending = endingOf(job, error, journal, worker);
    // After `isDone`, only the report of the outcome was left, and it failed.
    if (!isDone) await tellOfEnding(run, error, ending);
    return ending;
  }
}

/** @throws {NeedsOperator} if the job fails or is sent again and again */
function runnable({ job, worker }: Run): Automation {
  if (job.attempts >= MAX_ATTEMPTS)
    throw new NeedsOperator(`the worker crashed or failed ${job.attempts} times on this job`);
  const sends = sentTooOften(job, worker.clock());
  if (sends !== undefined)
    throw new NeedsOperator(
      `the job was sent again ${sends} times and did not get on, more often than its waits explain`,
    );
  const automation = worker.automation(job.automation);
  if (!automation) throw new NeedsOperator(`this version has no automation '${job.automation}'`);
  return automation;
}

/** Carries the job out. If it is not done, the journal keeps why, so that no later run carries it out after all. */
async function outcomeOf(run: Run, automation: Automation, steps: Steps): Promise<Told> {
  const { job, journal, once, privacy } = run;
  const before = journal.entry(NOT_DONE);
  const keep = (kept: KeptWords, isPrivate: boolean) =>
    once.run(NOT_DONE, job.automation, async () => kept, isPrivate ? privacy : undefined);
  const said = before ? notDone(await keep('', before.sealed !== undefined)) : await carryOut(automation, job, steps);
  // An object may have been created anyway.
  if (journal.undecidedSteps().length > 0) throw new NeedsOperator(said.text);
  if (said.of === 'not done') {
    const { text, blocks } = said;
    // A person who read the message may have asked again in another way.
    await keep(blocks ? { text, blocks } : text, privacy.wasUsed());
  }
  return said;
}

async function tellOfEnding({ job, person, linkWaits }: Run, error: unknown, ending: Ending): Promise<void> {
  if (ending.ended === 'parked') await person.parked(ending.kind);
  if (error instanceof LinkAwaited) {
    await linkWaits.note(error.of, job.id);
    await person.linkAwaited(error);
  } else if (ending.ended === 'not yet') await person.waiting(ending.dueAt, ending.waitsFor);
  // Nobody knows when an outage ends. A job in line runs again only then, so this is the time to tell.
  const isForeseen = ending.ended === 'in line' && ending.waitsFor === 'budget';
  if (ending.ended === 'in line') await person.waiting(isForeseen ? ending.expectedAt : undefined, ending.waitsFor);
}

/** What the records say of a job that acted as the person who asked for it. */
function recordOf(said: Told): string {
  if (said.of === 'not done') return NOT_DONE_AS_PERSON;
  return said.id === undefined ? DONE_AS_PERSON : `${DONE_AS_PERSON}: ${said.id}`;
}

const UNSIGNED =
  'the job is not as intake made it, so it must not act through a linked account; discard it, and look who can write to ' +
  'the table. If it is older than 30 days, or the intake secret was changed since, ask the person to ask again';

/** The waits that people ask about. The others are short, and a backlog has thousands of them. */
const TOLD_WAITS: readonly WaitsFor[] = ['outage', 'key', 'operator', 'person'];

/** Says, once the job gets on, what it had to wait for. A run that finds the outage unchanged has not got on. */
function createTellOfWait(job: Job, report: Worker['report']): () => void {
  let wait = job.waits?.newest.at(-1);
  return () => {
    if (wait && TOLD_WAITS.includes(wait.for)) report({ news: 'continues', job, wait });
    wait = undefined;
  };
}

/** Ends a job that an operator has discarded. */
async function discard({ job, worker, journal, person }: Run, reason: string): Promise<Ending> {
  const said = notDone(`discarded: ${reason}`);
  try {
    await letGo(job, 'parked', worker);
    await person.outcome(said);
  } catch (error) {
    const ending = endingOf(job, error, journal, worker);
    if (ending.ended !== 'parked') return ending;
    // It was parked once already, and the operator has decided. A claim that is left behind is settled by the next job.
    worker.report({ news: 'untold', job, error: ending.reason });
  }
  return { ended: 'succeeded', outcome: said.text, notDone: true };
}

/** Releases what the automation holds outside the job's record. */
export async function letGo(job: Job, ending: 'succeeded' | 'parked', { automation, jobs }: Worker): Promise<void> {
  const isHeld = async () => (await jobs.lease(job)?.isHeld()) ?? false;
  await automation(job.automation)?.letGo?.(job, ending, isHeld);
}

type Told = ReplyContent & { of: 'done' | 'not done' };

/** What the step that stores why a job is not done keeps for the person. */
type KeptWords = string | Pick<Told, 'text' | 'blocks'>;

const notDone = (kept: KeptWords): Told => ({ of: 'not done', ...(typeof kept === 'string' ? { text: kept } : kept) });

async function carryOut(automation: Automation, job: Job, steps: Steps): Promise<Told> {
  try {
    const outcome = await automation.run(job, steps);
    return { of: 'done', ...(typeof outcome === 'string' ? { text: outcome } : outcome) };
  } catch (error) {
    if (error instanceof NotDone)
      return notDone({ text: error.message, ...(error.blocks && { blocks: error.blocks }) });
    throw error;
  }
}
