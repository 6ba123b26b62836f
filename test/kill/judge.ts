import { isOutcomeUnknown, isOver, type Job } from '../../lib/engine/record/job.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { rule, type Standing } from './referee.ts';
import type { Made, Row } from './rows.ts';
import { type Effect, isOf, type Stop, type Trial, type TrialResult } from './trial.ts';

/** The beginning of an outcome that asks the person to correct something, on GitHub and in Slack. */
const NOT_DONE = /^(⚠️|:warning:)/;
const DONE = /^(✅|:white_check_mark:)/;

/** A trial, and the state after it. */
export interface Evidence
  extends Pick<Trial<Row>, 'row' | 'answers'>,
    Required<Pick<Trial<Row>, 'stops' | 'comesBack'>> {
  /** The number of events from outside that are not commands typed in Slack. */
  events: number;
  result: TrialResult;
  made: readonly Made[];
  /** Whether the relay read back the connection's first time entry, if the row creates one. */
  readBack: boolean | undefined;
  said: readonly string[];
}

/** Compares a trial with the promises, and its jobs with docs/exactly-once.md. @returns the differences */
export async function judge(evidence: Evidence): Promise<string[]> {
  const { breaches, standings } = await rule(evidence.result.happenings);
  const standingOf = (job: Job) => standings.get(keys.job(job.id).pk);
  return [
    ...breaches,
    ...judgeCourse(evidence),
    ...judgeJobs(evidence),
    ...evidence.result.jobs.flatMap((job) => judgeEnd(job, evidence, standingOf(job))),
    ...judgeMade(evidence),
    ...judgeSends(evidence),
    ...judgeReplies(evidence),
  ];
}

function judgeCourse({ stops, result: { stops: stopped, effects, logged } }: Evidence): string[] {
  const bugs = logged.map((line) => JSON.stringify(line)).filter((line) => line.includes('failed unexpectedly'));
  return [
    ...unless(stopped === stops.length || stops.some(({ at }) => at >= effects.length), `${stopped} stops came about`),
    ...unless(bugs.length === 0, `a bug: ${bugs}`),
  ];
}

/** Each event that was answered with 2xx has exactly one job. */
function judgeJobs({ events, result: { jobs, acknowledged, typed } }: Evidence): string[] {
  const lost = acknowledged.filter((id) => jobs.every((job) => job.id !== id));
  const ofCommands = typed.map((one) => jobs.filter((job) => isOf(job, one)).length);
  // Jobs that a job drafted, which it makes once.
  const drafted = jobs.filter(({ cause }) => cause?.from === 'job').length;
  const ofEvents = jobs.length - drafted - ofCommands.reduce((sum, count) => sum + count, 0);
  return [
    ...unless(lost.length === 0, `acknowledged and lost: ${lost}`),
    ...unless(ofEvents === events, `${ofEvents} jobs of ${events} events`),
    ...typed.flatMap(({ isAnswered }, index) => {
      const count = ofCommands[index] ?? 0;
      return [
        ...unless(!isAnswered || count === 1, `a command that is worked on has ${count} jobs`),
        ...unless(count <= 1, `a command has ${count} jobs`),
      ];
    }),
  ];
}

/** Each job has ended as the document says. */
function judgeEnd(job: Job, { row, said }: Evidence, standing: Standing | undefined): string[] {
  const { status, parked, outcome } = job;
  const notDone = status === 'not-done';
  if (isOver(job)) {
    if (row.isTool)
      return unless(!notDone || isUnclear(job, said), `not done, and not because nobody knows: ${outcome}`);
    const told = !row.repeatable && isClearlyRefused(standing);
    return unless(!notDone || told, `not done against the document: ${outcome}`);
  }
  if (status !== 'parked' || !parked) return [`a job is ${status}`];
  const why = `${parked.reason} (${parked.kind})`;
  if (row.repeatable) return [`parked, although it may be repeated: ${why}`];
  // Cases 1 and 2 of the document. In no trial does a job fail eight times or lack a permission.
  const isListed = isOutcomeUnknown(job)
    ? standing?.unanswered === true &&
      /: (the request arrived, but|the service .*, and may have done the work)/.test(parked.reason)
    : isClearlyRefused(standing) && /refused with status (400|403|404|422)/.test(parked.reason);
  return unless(isListed, `parked against the document: ${why}`);
}

function isClearlyRefused(standing: Standing | undefined): boolean {
  return standing?.unanswered === false && standing.decision === 'park';
}

/** Nothing exists twice, or without a job that says so, and everything that succeeded exists. */
function judgeMade({ row, answers, result: { jobs }, made, readBack, said }: Evidence): string[] {
  const done = jobs.filter(({ status }) => status === 'succeeded');
  const parked = jobs.filter(({ status }) => status === 'parked');
  const wanted = (count: number) => ('ofAll' in row.makes ? row.makes.ofAll : row.makes.ofEachJob * count);
  // Only the person may read a tool's words, so records contain at most an id, and other people read none.
  const told = [...(row.isTool ? said : []), ...done.map(({ outcome = '' }) => outcome)];
  const nobodys = made.filter(({ id }) => told.every((text) => !text.includes(String(id))));
  // Requests that arrived after the relay gave up waiting, or whose effect no operation shows.
  const unclear = jobs.filter((job) => isUnclear(job, said)).length;
  const isLeft = row.isUnlisted || answers.includes('passed on after 15 s');
  const late = unclear + (isLeft ? parked.length : 0);
  const others = made.filter(({ looks }) => looks !== row.looks);
  return [
    ...unless(made.length <= wanted(jobs.length), `${made.length} were made`),
    ...unless(nobodys.length <= late, `${nobodys.length} are there of which no job says so`),
    ...unless(done.length === 0 || readBack !== false, 'the first time entry was not read back'),
    ...(parked.length > 0
      ? []
      : [
          ...unless(
            made.length >= wanted(done.length) && made.length <= wanted(done.length + unclear),
            `${done.length} succeeded with ${made.length} made`,
          ),
          ...unless(others.length === 0, `looks like '${others[0]?.looks}'`),
        ]),
  ];
}

/**
 * A tool has no nonce, so a call must not be sent again, unless it was refused before it ran. A permanent refusal is
 * not sent again either, if the host lives to note it: the job waits for a person.
 */
function judgeSends({ row, answers, stops, result: { sends, jobs } }: Evidence): string[] {
  const refused = answers.filter((answer) => answer === '429 for 20 s').length;
  const isFinal = stops.length === 0 && answers.length === 1 && /^(403|404|422)/.test(answers[0] ?? '');
  return [
    ...unless(!row.isTool || sends <= jobs.length + refused, `the tool was called ${sends} times`),
    ...unless(!isFinal || sends <= jobs.length, `sent ${sends} times, although it was refused`),
  ];
}

/** Whether the person read that the outcome is unknown. */
function isUnclear({ status }: Job, said: readonly string[]): boolean {
  return status === 'not-done' && said.some((text) => text.includes('Before you ask again, look in the service'));
}

/** Each outcome is reported, exactly once if the relay can know that it was. */
function judgeReplies({ row, stops, comesBack, result: { jobs, effects }, said }: Evidence): string[] {
  const ended = jobs.filter(isOver);
  const parked = jobs.filter(({ status }) => status === 'parked');
  const atMost = 1 + stops.filter((stop) => hidesReply(stop, comesBack, effects)).length;
  if (jobs.every(({ replyTo }) => !replyTo)) {
    // Any of the jobs may report its defect.
    const atLeast = parked.length > 0 || row.mayGoWithoutReply ? 0 : 1;
    return unless(said.length >= atLeast && said.length <= atMost, `${said.length} replies`);
  }
  const sayParked = said.filter((text) => /could not be done|may or may not have been done/.test(text)).length;
  const sayNotDone = said.filter((text) => NOT_DONE.test(text)).length;
  return [
    ...ended.flatMap(({ outcome = '', status }) => {
      // An outcome begins in lower case, and its report is a sentence. The outcome of a linked account has at most an
      // id.
      const words = row.isTool ? outcome.replace(/^done(; its id in the service is )?/, '') : outcome.slice(1);
      const isOfWords = !row.tells || status === 'not-done';
      const isIt = (text: string) =>
        row.isTool && status === 'not-done'
          ? NOT_DONE.test(text)
          : (!row.isTool || DONE.test(text)) && (isOfWords ? text.includes(words) : row.tells?.test(text));
      const count = said.filter(isIt).length;
      // Two jobs with the same outcome have a reply each.
      const least = isOfWords ? 1 : ended.filter((one) => one.status === status).length;
      return unless(count >= least && count < least + atMost, `${count} replies`);
    }),
    // A person who reads that it was not done may do it in another way.
    ...unless(sayNotDone === 0 || ended.some(({ status }) => status === 'not-done'), 'said not to be done, and done'),
    // The service may give another answer to the host that takes over.
    ...unless(
      sayParked >= parked.length && (sayParked === parked.length || stops.length > 0),
      `${sayParked} say what is parked`,
    ),
  ];
}

/**
 * Whether the relay cannot know after this stop that the reply was sent, because neither Slack nor GitHub has a nonce.
 * A host that takes over can find a comment or a direct message. A host that continues its own work cannot, and nobody
 * can find a message to a response_url.
 */
function hidesReply({ at, when }: Stop, comesBack: boolean, effects: readonly Effect[]): boolean {
  const what = effects[at]?.what ?? '';
  const isSending = /^(response_url|chat\.postMessage|GitHub comment)$/.test(what);
  const isNoting = /^PutItem step#(reply|comment) done$/.test(what) && when === 'before';
  if (comesBack) {
    const isAboutToSend = /^PutItem step#(reply|comment) begun$/.test(what) && when === 'after';
    return isAboutToSend || isSending || isNoting;
  }
  if (what === 'response_url') return when === 'after';
  return isNoting && effects[at - 1]?.what === 'response_url';
}

function unless(holds: boolean, violation: string): string[] {
  return holds ? [] : [violation];
}
