import type { Connection } from '../../service/connection/connection.ts';
import { createLearned } from '../../service/connection/learned.ts';
import { type WaitsFor, waitFromFirst } from '../record/history.ts';
import { NeedsOperator } from '../record/interruption.ts';
import type { Job } from '../record/job.ts';
import { openJournal } from '../record/journal.ts';
import { openOutcomeOf } from '../record/open-outcome.ts';
import { createPrivacy } from '../record/privacy.ts';
import { happenedAt } from '../record/replaced-table.ts';
import type { ActingSteps } from './acting.ts';
import { createCreations } from './creations.ts';
import { crashesInVain, MAX_ATTEMPTS } from './ending.ts';
import { createSteps, type JobSteps } from './job-steps.ts';
import { createOnce, type SendNews, type StepNews } from './once.ts';
import { type CallNews, createPartnerCalls, type PartnerCalls } from './partner-calls.ts';
import { createReplySteps } from './reply-steps.ts';
import { createTellPerson, WHY_IT_WAITS } from './tell-person.ts';
import type { Worker } from './worker.ts';

/** The clients of a run's calls. Empty if its connection is gone. */
export interface CallsOfRun {
  calls?: PartnerCalls;
  /** Opened by the first step as a person. */
  acting?: { opened?: ActingSteps };
}

/** One run of a job, before its connection is known to exist. */
export type Run = Awaited<ReturnType<typeof openRun>>;

/** Reads the journal, and opens what every run needs. */
export async function openRun(job: Job, deadline: number, worker: Worker) {
  const { table, acting, replies, clock } = worker;
  const journal = await openJournal(table, job.id, clock, worker.jobs.lease(job));
  const tellOfWait = createTellOfWait(job, worker.report);
  let hasGotOn = false;
  function report(news: StepNews | SendNews | CallNews): void {
    // A message about a wait is no progress.
    if (news.news === 'step' && news.entry.status === 'done' && !news.entry.step.startsWith(WHY_IT_WAITS)) {
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
  });
  /** Called before the run reads anything private. @throws {NeedsOperator} */
  async function ensureSignedByIntake(): Promise<void> {
    if (!(await worker.signatures.isSigned(job))) throw new NeedsOperator(UNSIGNED);
  }
  const privacy = createPrivacy(job.id, acting, ensureSignedByIntake);
  const sealOfDecisions = createPrivacy(job.id, acting);
  const replySteps = createReplySteps(journal, clock, deadline, once, sealOfDecisions);
  const failed = (error: unknown) => worker.report({ news: 'untold', job, error });
  const person = createTellPerson({ job, journal, steps: replySteps, replies, clock, failed });
  const bug = (error: unknown) => worker.report({ news: 'bug', job, error });
  let title: string | undefined;
  const entitle = (understood: string) => {
    title = understood;
  };
  const forNextRun = () => ({
    title,
    unfinished: once.unfinished(),
    openUntil: openOutcomeOf(journal, journal.openSteps())?.until,
    hasGotOn,
    // A run that only waits does not reset the crashes until the open creations are settled.
    crashes: crashesInVain(job, journal) ? job.crashes : undefined,
  });
  return {
    job,
    worker,
    journal,
    once,
    privacy,
    person,
    replySteps,
    deadline,
    ensureSignedByIntake,
    report,
    bug,
    entitle,
    forNextRun,
  };
}

/** Returns the steps of a run on its connection, and the clients of their calls. */
export function connected(
  { job, worker, journal, once, privacy, replySteps, deadline, ensureSignedByIntake, report, bug, entitle }: Run,
  connection: Connection,
): { steps: JobSteps } & Required<CallsOfRun> {
  const { table, replacedTable, budget, breakers, lines, clock, sleep } = worker;
  const { id: caller, lane, limited } = job;
  const cameBack = job.dueAt !== undefined || job.generation > 1;
  const stranger = job.stranger === undefined ? undefined : { login: job.stranger, share: worker.strangers };
  const began = { replacedTable, happenedAt: happenedAt(job) };
  const decidedAt = job.decisions?.newest.at(-1)?.at ?? 0;
  const stands = (error: unknown) => worker.report({ news: 'line stands still', job, error });
  const line = {
    moveOn: async () => void (await lines.moveOn(connection).catch(stands)),
    foresee: () => lines.foresee(job, connection.limits).catch(() => undefined),
  };
  const run = { connection, lane, caller, limited, cameBack, stranger, budget, breakers, clock, sleep, deadline };
  const calls = createPartnerCalls({ ...run, line, report });
  const learned = createLearned(table, connection.name, clock);
  const creating = createCreations({ calls, table, connection, learned, lane, journal, ...began, decidedAt, clock });
  const isPublic = job.replyTo?.in === 'github';
  const isLastAttempt = job.attempts + 1 >= MAX_ATTEMPTS;
  const given = { ...run, ...began, journal, once, privacy, bug, isPublic, isLastAttempt, ensureSignedByIntake };
  const acting: CallsOfRun['acting'] = {};
  const as: ActingSteps['as'] = (person) => {
    acting.opened ??= worker.acting.open(given);
    return acting.opened.as(person);
  };
  const [{ takeShare }, replies] = [calls.slots, replySteps];
  const steps = createSteps({ connection, learned, calls, takeShare, creating, journal, once, replies, as, entitle });
  return { steps, calls, acting };
}

const UNSIGNED =
  'the job was changed after it was accepted, so it must not act through a linked account; discard it, and check who can write to ' +
  'the table. If it is older than 30 days, or the intake secret has changed since, have the person ask again';

/** The waits that people ask about. All others are short, and a backlog has thousands of them. */
const TOLD_WAITS: readonly WaitsFor[] = ['outage', 'key', 'operator'];

/** Reports what the job waited for, once it makes progress. A run that finds the outage unchanged makes none. */
function createTellOfWait(job: Job, report: Worker['report']): () => void {
  let wait = job.waits && waitFromFirst(job.waits);
  return () => {
    if (wait && TOLD_WAITS.includes(wait.for)) report({ news: 'continues', job, wait });
    wait = undefined;
  };
}
