import { isDeepStrictEqual, styleText } from 'node:util';
import { INTERNAL_FIELDS } from '../console/web/internal-fields.ts';
import { elapsed, localClock, localTime } from '../lib/dates.ts';
import { commandsOf, nextStep, withDocs } from '../lib/engine/line/next-step.ts';
import type { FoundJobs } from '../lib/engine/operate/find-jobs.ts';
import { type Count, countInWords } from '../lib/engine/operate/job-counts.ts';
import { causeOf } from '../lib/engine/operate/parked-groups.ts';
import type { Waited } from '../lib/engine/record/history.ts';
import { waitInWords } from '../lib/engine/record/in-plain-words.ts';
import {
  hasEnded,
  type Job,
  type JobStatus,
  jobStatuses,
  newsOf,
  shortName,
  statusInWords,
  waitOf,
} from '../lib/engine/record/job.ts';
import type { StepEntry } from '../lib/engine/record/journal.ts';
import type { JobView, OpenCreation } from '../lib/engine/record/read-job.ts';
import { forAndAgainst } from '../lib/engine/record/read-job.ts';
import type { Send } from '../lib/engine/record/sends.ts';
import type { Lane } from '../lib/service/budget/lanes.ts';
import { counted } from '../lib/text.ts';
import type { IgnoredEvent } from '../local/ignored.ts';
import { inOneLine, printable, printableJson } from '../local/terminal.ts';
import { toPaste } from './to-paste.ts';

export function printJson(value: unknown): void {
  console.log(printableJson(value));
}

/** Prints a text that may come from outside, and keeps its line breaks. */
export function printText(text: string): void {
  console.log(printable(text));
}

const COLOURS = {
  queued: 'cyan',
  running: 'blue',
  waiting: 'yellow',
  succeeded: 'green',
  'not-done': 'gray',
  parked: 'red',
} as const;

function paint(job: Job): string {
  const word = statusInWords(job);
  // Only a terminal gets color; a pipe gets plain text.
  return styleText(word === job.status ? COLOURS[job.status] : 'gray', word.padEnd(9), { stream: process.stdout });
}

/** What goes to each lane. */
export const laneInWords: Readonly<Record<Lane, string>> = {
  interactive: "interactive (a person's command in Slack)",
  further: 'further (more commands of the same person within a minute)',
  background: 'background (events, and commands in comments)',
  backfill: 'backfill (existing issues)',
};

const INDENT = ' '.repeat(25);

/** Prints jobs. Neighbours with the same news and next step share these: they are printed once, above the first. */
export function printJobs(jobs: readonly Job[]): void {
  if (jobs.length === 0) console.log('No jobs.');
  const groups: { about: ReturnType<typeof aboutJob>; same: Job[] }[] = [];
  for (const job of inOneLine(jobs)) {
    const about = aboutJob(job);
    const last = groups.at(-1);
    if (last && isDeepStrictEqual(last.about, about)) last.same.push(job);
    else groups.push({ about, same: [job] });
  }
  for (const { about, same } of groups) {
    const isShared = same.length > 1 && about.some(Boolean);
    if (isShared) console.log(`${INDENT}The next ${same.length} jobs:`);
    if (isShared) printAbout(about);
    for (const job of same) printRow(job, `${shortName(job.id)}  ${job.summary}`, isShared ? [] : about);
  }
}

/** Prints the jobs that wait for one cause as one row, with the oldest one's time. */
export function printOverview(jobs: readonly Job[]): void {
  const rows = Map.groupBy(jobs, (job) => sharedCause(job) ?? job.id);
  for (const row of rows.values()) {
    const [first, ...others] = inOneLine(row).toSorted((a, b) => a.createdAt - b.createdAt);
    if (!first || others.length === 0) printJobs(row);
    else {
      // The one that says what does not work.
      const said = row.find(isHeldUp) ?? first;
      const own = aboutJob(said)[1];
      const next = own?.startsWith('Nothing to do') ? 'They continue by themselves.' : own;
      const what = `${row.length} of the newest jobs wait for one reason, the oldest since this time. To see each: npx partner-relay jobs --status waiting`;
      printRow(first, what, [newsOf(said), next]);
    }
  }
  if (jobs.length === 0) printJobs(jobs);
}

function printRow(job: Job, what: string, about: readonly (string | undefined)[]): void {
  console.log(`${localTime(job.createdAt)}  ${paint(job)}  ${toPaste(what)}`);
  printAbout(about);
}

function printAbout(about: readonly (string | undefined)[]): void {
  for (const line of about) if (line) console.log(`${INDENT}→ ${toPaste(line)}`);
}

/** What came of a job, or why it does not go on, and what to do. */
function aboutJob(job: Job): [news: string, next: string | undefined] {
  return [newsOf(job), isOpen(job) ? nextStep(job, localTime, Date.now())?.text : undefined];
}

function isHeldUp(job: Job): boolean {
  const waitsFor = waitOf(job)?.for;
  return waitsFor === 'outage' || waitsFor === 'key';
}

/** The cause of a wait, if it may hold up other jobs, too. */
function sharedCause(job: Job): string | undefined {
  const wait = waitOf(job);
  if (wait?.for === 'budget') return `${job.connection} budget`;
  const isOfService = isHeldUp(job) || wait?.for === 'retry' || wait?.for === 'answer';
  return isOfService ? `${job.connection} ${causeOf(wait?.why ?? '')}` : undefined;
}

/** Prints a change of a job, for `--follow`. */
export function printChange(given: Job): void {
  const job = inOneLine(given);
  const now = localClock(Date.now());
  console.log(`${now}  ${paint(job)}  ${shortName(job.id)}  ${job.summary}${newsOf(job) ? ` → ${newsOf(job)}` : ''}`);
}

/** Whether the status alone does not tell a person enough. */
function isOpen({ status }: Job): boolean {
  return status === 'parked' || status === 'waiting';
}

/** Prints the number of jobs of each status. @param all the numbers without a filter, if there was none */
export function printCounts({ jobs, counts, cursor }: FoundJobs, all: Record<JobStatus, Count> | undefined): void {
  const inWords = (countOf: (status: JobStatus) => Count) =>
    jobStatuses
      .flatMap((status) =>
        countOf(status).jobs > 0
          ? `${countInWords(countOf(status))} ${status === 'not-done' ? 'not done or discarded' : status}`
          : [],
      )
      .join(', ');
  const inAll = all ? inWords((status) => all[status]) : '';
  if (jobs.length > 0) console.log('');
  if (inAll !== '') console.log(`In all: ${inAll}.`);
  else if (jobs.length > 0) console.log(`Listed: ${inWords((status) => ({ jobs: counts[status], more: false }))}.`);
  if (all && all.parked.jobs > counts.parked)
    console.log('To list all parked jobs: npx partner-relay jobs --status parked');
  if (cursor !== undefined) console.log('There are more. To list them, use a larger --limit.');
}

export function printIgnored(events: readonly IgnoredEvent[]): void {
  if (events.length === 0) console.log('No event was ignored.');
  const width = Math.max(...events.map(({ event }) => event.length));
  for (const { timestamp, event, deliveryId, reason } of inOneLine(events)) {
    console.log(`${localTime(Date.parse(timestamp))}  ${event.padEnd(width)}  ${deliveryId}\n${INDENT}→ ${reason}`);
  }
}

export function printJob({ job: given, steps, openCreations }: JobView, now: number): void {
  const job = inOneLine(given);
  const { cause } = job;
  const facts: [string, string | number | undefined | false][] = [
    ['event', job.summary],
    ['status', statusWithNews(job)],
    [
      'cause',
      cause &&
        [`${cause.from} ${cause.id}`, cause.event, cause.person && `by ${cause.person}`].filter(Boolean).join(', '),
    ],
    ['automation', job.automation],
    ['connection', `${job.connection}, ${laneInWords[job.lane]}`],
    ['created', localTime(job.createdAt)],
    [job.status === 'parked' ? 'parked' : 'finished', hasEnded(job) && localTime(job.wakeAt)],
    ['failed', job.attempts > 0 && counted(job.attempts, 'attempt')],
  ];
  console.log(job.id);
  for (const [name, value] of facts) if (value) console.log(`  ${name.padEnd(12)} ${value}`);
  printNext(job, now);
  printOpen(inOneLine(openCreations), inOneLine(steps), now);
  printSteps(inOneLine(steps));
  printHistory(job, now);
}

function statusWithNews(job: Job): string {
  const [status, news] = [statusInWords(job), newsOf(job)];
  if (news === '') return status;
  // The reason of a discarded job already begins with its status.
  return news.startsWith(`${status}: `) ? news : `${status}: ${news}`;
}

function printNext(job: Job, now: number): void {
  const next = nextStep(job, localTime, now);
  if (!next) return;
  console.log(`\n${toPaste(withDocs(next))}${job.status === 'parked' ? '\n' : ''}`);
  if (job.status !== 'parked') return;
  for (const command of commandsOf(job, next, localTime)) console.log(toPaste(`  npx partner-relay ${command}`));
}

/** Prints what is known about creations without a clear answer. */
function printOpen(open: readonly OpenCreation[], steps: readonly StepEntry[], now: number): void {
  if (open.length > 0) console.log('\nwithout a clear answer');
  for (const creation of open) {
    const { step, operation, signedAt, marker, again } = creation;
    const looked = marker === undefined ? 'the relay cannot search for it' : `its marker is ${marker}`;
    const decided = again ? '; an operator decided to create it again' : '';
    console.log(`  ${step}: ${operation}, signed ${localTime(signedAt)}; ${looked}${decided}`);
    console.log(`    ${forAndAgainst(creation, steps.find((entry) => entry.step === step)?.sends?.newest ?? [], now)}`);
  }
}

/** Shorter waits for the budget are not shown. */
const WORTH_TELLING_MS = 100;

function printSteps(steps: readonly StepEntry[]): void {
  console.log('\nsteps');
  if (steps.length === 0) console.log('  none');
  const widthOf = (name: 'step' | 'calls') => Math.max(...steps.map((entry) => entry[name].length));
  const [stepWidth, callsWidth] = [widthOf('step'), widthOf('calls')];
  for (const entry of steps) {
    const { step, calls, startedAt, sends } = entry;
    console.log(
      `  ${localTime(startedAt)}  ${step.padEnd(stepWidth)}  ${calls.padEnd(callsWidth)}  ${stepInWords(entry)}`,
    );
    if (!sends || isPlain(entry)) continue;
    if (sends.older > 0) console.log(`${INDENT}  ${counted(sends.older, 'older send')}`);
    for (const send of sends.newest) console.log(`${INDENT}  ${localClock(send.sentAt)}  ${sendInWords(send)}`);
  }
}

/** Whether one line explains the step: the service accepted its only send at once. */
function isPlain({ sends }: StepEntry): boolean {
  const [only, ...others] = sends?.newest ?? [];
  return others.length === 0 && only?.came === 'accepted' && only.grantedAt - only.askedAt < WORTH_TELLING_MS;
}

function stepInWords(entry: StepEntry): string {
  const { status, calls, result, note, failures = 0, settledBy, startedAt, finishedAt = startedAt } = entry;
  if (status === 'skipped') return `left out: ${note}`;
  const took = status === 'done' ? ` in ${elapsed(finishedAt - startedAt)}` : '';
  const failed = status === 'failed' ? ` in ${failures} runs` : ` after ${counted(failures, 'failed run')}`;
  const what = note ?? (calls === 'clock' ? '' : resultInWords(result));
  return `${status}${took}${failures > Number(status === 'failed') ? failed : ''}${settledBy === undefined ? '' : `: ${settledBy}`}${what === '' ? '' : `  ${what}`}`;
}

function resultInWords(result: unknown): string {
  const shown =
    JSON.stringify(result, (name, value: unknown) => (INTERNAL_FIELDS.test(name) ? undefined : value)) ?? '';
  return shown === '{}' ? '' : shown;
}

function sendInWords({ calls, askedAt, grantedAt, sentAt, endedAt, came, status, why, sameBytes }: Send): string {
  const neverLeft = status === undefined && (came === 'invalid' || came === 'not sent');
  const sent = neverLeft ? 'not sent' : sameBytes ? 'the same request sent again' : 'sent';
  const what = calls === undefined ? sent : `asked ${calls}`;
  const waited =
    grantedAt - askedAt < WORTH_TELLING_MS ? '' : ` after a wait of ${elapsed(grantedAt - askedAt)} in this run`;
  const ended = came === 'accepted' ? `answered with ${status}` : (why ?? came);
  return `${what}${waited}: ${ended} (${elapsed(endedAt - sentAt)})`;
}

/** Prints what the job waited for and what operators decided, in order of time. */
function printHistory({ waits, decisions }: Job, now: number): void {
  const told = [
    ...(waits?.newest ?? []).map((wait) => ({ at: wait.from, text: waitedInWords(wait, now) })),
    ...(decisions?.newest ?? []).map(({ at, by, what, reason }) => ({
      at,
      text: `${what} by ${by}${reason === undefined ? '' : `: ${reason}`}`,
    })),
  ];
  if (told.length === 0) return;
  console.log('\nwaits and decisions');
  const older = (waits?.older ?? 0) + (decisions?.older ?? 0);
  if (older > 0) console.log(`  ${older} older ones`);
  for (const { at, text } of told.toSorted((a, b) => a.at - b.at)) console.log(`  ${localTime(at)}  ${text}`);
}

function waitedInWords({ for: what, from, until, why }: Waited, now: number): string {
  const long = until === undefined ? `has waited ${elapsed(now - from)}` : `waited ${elapsed(until - from)}`;
  // The line of the status already says why the job waits now.
  return `${long} ${waitInWords[what].what}${until === undefined ? '' : `: ${why}`}`;
}

/** Names of fields with times, which records of the table hold as epoch milliseconds. */
const TIME = /(?:^(?:at|from|until|since)|At|Until|Since)$/;
/** Data of people and of the service is printed unchanged. */
const NOT_OURS = new Set(['input', 'result', 'payload']);

/**
 * Returns the value with its times as ISO 8601 in UTC, for programs. A time of 0 means that there is none, and becomes
 * null.
 */
export function withIsoTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIsoTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ofField(name, field)]));
}

function ofField(name: string, field: unknown): unknown {
  if (NOT_OURS.has(name)) return field;
  if (typeof field !== 'number' || !TIME.test(name)) return withIsoTimes(field);
  return field > 0 && Number.isFinite(field) ? new Date(field).toISOString() : null;
}
