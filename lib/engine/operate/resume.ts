import type { RelayConfig } from '../../config/schema.ts';
import { connectionSettings } from '../../config/settings.ts';
import { localTime } from '../../dates.ts';
import { createBudget } from '../../service/budget/budget.ts';
import { causesOf, WHOLE } from '../../service/connection/breaker-item.ts';
import { createBreakers, whyStopped } from '../../service/connection/breakers.ts';
import { viewConnection } from '../../service/connection/connection-view.ts';
import type { Table } from '../../state/table/table.ts';
import { counted } from '../../text.ts';
import { inBatches } from '../line/queue.ts';
import { requeueJob, type SweepOptions } from '../line/sweep.ts';
import { openWaitingLines } from '../line/waiting-line.ts';
import type { WaitsFor } from '../record/history.ts';
import { asksQuestion, canBeDiscarded, type Job, questionOf, waitOf, whoIsAsked } from '../record/job.ts';
import { openJournal } from '../record/journal.ts';
import { cannotBe, isSought, queuedBy, verifyIsOver } from './resolve.ts';

/** How many waiting jobs are resumed at once. All others continue when they are due. */
const LOOKED_AT = 1_000;
/** The waits that may end when calls are sent again. */
const HELD_BY_CALLS: ReadonlySet<WaitsFor | undefined> = new Set(['budget', 'retry', 'answer', 'outage', 'key']);

/**
 * Ends the pause of a connection, closes its breakers and those of its operations, and continues its waiting jobs. The
 * service's next answers can stop them again.
 *
 * @param by the person who asks
 * @returns until when the connection was paused or null, the breakers that were open, and how many waiting jobs
 * continue now
 * @throws {Error} for a connection that is not in the configuration
 */
export async function resumeForPerson(
  connection: string,
  by: string,
  { config, ...stores }: SweepOptions & { table: Table; clock: () => number; config: RelayConfig },
) {
  const { table, jobs, clock } = stores;
  const { limits } = connectionSettings(config, connection);
  const breakers = createBreakers({ table, clock, random: Math.random });
  const budget = createBudget({ table });
  const { pausedUntil, stopped } = await viewConnection(connection, limits, { budget, table, clock });
  await budget.resume(connection);
  await breakers.closeAll(connection);
  const waiting = await jobs.list('waiting', { limit: LOOKED_AT });
  // A job that its line called sleeps until the next probe, or until the end of the pause.
  const isAsleep = stopped.length > 0 || pausedUntil !== null;
  const isInLine = ({ line, slotAt }: Job) => line !== undefined && (slotAt === undefined || !isAsleep);
  const isDue = (job: Job) => job.connection === connection && HELD_BY_CALLS.has(waitOf(job)?.for) && !isInLine(job);
  const due = waiting.filter(isDue);
  const decision = { at: clock(), by, what: 'resumed' } as const;
  const queued = (await inBatches(due, (job) => requeueJob(job, stores, decision))).filter((job) => job !== undefined);
  const called = await openWaitingLines(stores).moveOn({ name: connection, limits }, { atOnce: true });
  return { pausedUntil, stopped, queued: queued.length + called.length };
}

/** Describes in lines what was resumed. The lines can contain text from outside. */
export function resumedInWords(
  connection: string,
  { pausedUntil, stopped, queued }: Awaited<ReturnType<typeof resumeForPerson>>,
): string[] {
  if (pausedUntil === null && stopped.length === 0 && queued === 0)
    return [`${connection} is neither paused nor down. Jobs that wait for its budget continue by themselves`];
  return [
    ...(pausedUntil === null ? [] : [`ended the pause, which would have lasted until ${localTime(pausedUntil)}`]),
    ...causesOf(stopped).map(
      (stop) => `the relay had stopped calls: ${whyStopped(connection, stop.operation ?? WHOLE, stop)}`,
    ),
    ...(stopped.length > 0
      ? ['The relay sends calls again now. If they still fail, it stops them again.']
      : queued > 0
        ? [`${counted(queued, 'waiting job')} ${queued === 1 ? 'continues' : 'continue'}`]
        : []),
  ];
}

/**
 * Continues a parked or waiting job immediately.
 *
 * @param reason the operator's reason, or the answer to the job's question
 * @returns the queued job
 * @throws {Error} if the job is in another state, if only a person can find out what it created, or if its question has
 * no answer, or another person has to answer it
 */
export async function replayJob(
  job: Job,
  { by, reason }: { by: string; reason?: string | undefined },
  options: SweepOptions & { clock: () => number },
): Promise<Job> {
  const canRun = job.status === 'parked' ? isSought(job) : job.status === 'waiting';
  if (!canRun) throw cannotBe('replayed', job, options.clock());
  const question = questionOf(job);
  if (question)
    throw new Error(
      `${job.id} asks ${whoIsAsked(question, job)} in Slack, until ${localTime(question.until)}: nobody else can answer, but you can discard it`,
    );
  const answer = reason?.trim() || undefined;
  if (asksQuestion(job) && answer === undefined)
    throw new Error(`${job.id} asks a question: replay it with the answer, as --reason <answer>, or discard it`);
  return queuedBy({ at: options.clock(), by, what: 'replayed', reason: answer }, job, options);
}

/**
 * Ends a parked job, or a waiting job of a backfill or a team's automation, without the rest of its work. A worker ends
 * it: it tells the person who asked, and releases what the job holds, such as its claim of a link. Completed steps
 * stay. Nothing more is sent to the service.
 *
 * @param by the operator
 * @param reason for the history, and for the person who asked in Slack; a comment on GitHub does not have it
 * @returns the queued job
 * @throws {Error} if the job is in another state, or while one of its requests can still be executed
 */
export async function discardJob(
  job: Job,
  { by, reason }: { by: string; reason: string },
  options: SweepOptions & { table: Table; clock: () => number },
): Promise<Job> {
  const { table, clock } = options;
  if (!canBeDiscarded(job)) throw cannotBe('discarded', job, clock());
  if (reason.trim() === '') throw new Error('a discarded job needs a reason');
  const journal = await openJournal(table, job.id, clock);
  for (const step of journal.openSteps()) {
    const open = journal.openRequest(step);
    if (open) verifyIsOver(job, open, clock());
  }
  return queuedBy({ at: clock(), by, what: 'discarded', reason: reason.trim() }, job, options);
}
