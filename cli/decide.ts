import { Option } from 'commander';
import { described } from '../console/decisions.ts';
import { whyWaitsOn } from '../console/waits-on.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { localTime } from '../lib/dates.ts';
import { type Choice, nextStep } from '../lib/engine/line/next-step.ts';
import { findJobs, type JobFilter } from '../lib/engine/operate/find-jobs.ts';
import { isSought, type Resolution, resolveJob } from '../lib/engine/operate/resolve.ts';
import { discardJob, replayJob } from '../lib/engine/operate/resume.ts';
import { createVerifyCreated } from '../lib/engine/operate/verify-created.ts';
import { asksQuestion, isOutcomeUnknown, type Job, waitOf } from '../lib/engine/record/job.ts';
import type { Stores } from '../lib/runtime.ts';
import type { Lane } from '../lib/service/budget/lanes.ts';
import { counted, messageOf } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { knownJob } from './known-job.ts';
import { operatorOf } from './operator.ts';
import { openPartner } from './partner.ts';
import { printJobs, printJson, withIsoTimes } from './print.ts';
import type { OpenTarget } from './target.ts';
import { toPaste } from './to-paste.ts';

const CHOSEN_AT_ONCE = 1_000;
const CHOSEN_PAGE = 500;
const PARKED_FOR = 'instead of one job, all jobs that were parked for a reason with this text';

const ASKS = 'a question needs an answer of its own: answer with replay <id> --reason <answer>';
const NOT_SOUGHT = 'the relay cannot search for what it created: decide with resolve <id>';

/** Leaves out jobs of a list that can only be decided one by one, and says why. */
function withoutSome(jobs: readonly Job[], id: string | undefined, isKept: (job: Job) => boolean, why: string) {
  const kept = id === undefined ? jobs.filter(isKept) : jobs;
  if (kept.length < jobs.length) console.error(`${counted(jobs.length - kept.length, 'job')} left out, because ${why}`);
  return kept;
}

export const replay: Define = (command, { open }) =>
  command
    .arguments('[id]')
    .description('continue a parked job, or try a waiting job again now; completed steps are not repeated')
    .option('--reason <text>', 'why, or the answer to what the job asks')
    .option('--parked-for <text>', PARKED_FOR)
    .option('--yes', 'with --parked-for: continue the jobs instead of only listing them')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (id: string | undefined, options: Several & { reason?: string }) => {
      const target = await open();
      const all = await chosenJobs(target.stores, id, options.parkedFor);
      const answered = withoutSome(all, id, (job) => !asksQuestion(job), ASKS);
      const chosen = withoutSome(answered, id, (job) => job.status !== 'parked' || isSought(job), NOT_SOUGHT);
      if (chosen.length === 0 || isOnlyListed(chosen, id, options, 'replay', 'replay')) return;
      const decision = { by: operatorOf(target), reason: options.reason };
      const said = new Set<string>();
      await inTurn(
        chosen,
        (job) => replayJob(job, decision, target.stores),
        (next, job) => sayReplayed(next, job, target.stores, said),
        options,
      );
    });

export const resolve: Define = (command, { open }) =>
  command
    .arguments('[id]')
    .description('settle a job that is parked because the outcome of its creation is unknown')
    .option('--done <created id>', 'it was created, and this is its id, which is checked with the service')
    .option('--again', 'it was not created: create it again, unless a last search finds it')
    .option('--search', 'search the service once more')
    .option('--parked-for <text>', PARKED_FOR)
    .option('--yes', 'with --parked-for: apply the decision instead of only listing the jobs')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (id: string | undefined, options: ResolveCommandOptions) => {
      const way = wayOf(options);
      if (options.parkedFor !== undefined && way === 'done')
        throw new Error('--done takes the id of one creation: name its job, without --parked-for');
      const target = await open();
      const isWanted = (job: Job) => isOutcomeUnknown(job) && (way !== 'search' || isSought(job));
      const which = `with an unknown outcome${way === 'search' ? ' that a search can settle' : ''}`;
      const chosen = await chosenJobs(target.stores, id, options.parkedFor, isWanted, which);
      if (isOnlyListed(chosen, id, options, 'resolve', way)) return;
      const resolution = await resolutionOf(way, options.done ?? '', open);
      const by = operatorOf(target);
      await inTurn(
        chosen,
        (job) => resolveJob(job, resolution, { ...target.stores, by }),
        (next, job) => (way === 'search' ? sayQueued(next, job) : `${next.id} is queued again`),
        options,
      );
    });

export const discard: Define = (command, { open }) =>
  command
    .arguments('[id]')
    .description(
      'end a parked job, or a waiting one of a backfill or of your automations, without doing the rest; a person who asked with a command is notified',
    )
    .requiredOption('--reason <text>', `(required) why. ${described.discard.asks?.hint}`)
    .option('--parked-for <text>', PARKED_FOR)
    .addOption(new Option('--lane <lane>', 'instead of one job, all waiting jobs of a backfill').choices(['backfill']))
    .option('--yes', 'with --parked-for or --lane: discard the jobs instead of only listing them')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (id: string | undefined, options: Several & { reason: string; lane?: 'backfill' }) => {
      const target = await open();
      const { parkedFor, lane } = options;
      if (lane !== undefined && (id ?? parkedFor) !== undefined)
        throw new Error('--lane chooses all waiting jobs of a backfill: leave out the id and --parked-for');
      const chosen =
        lane === undefined ? await chosenJobs(target.stores, id, parkedFor) : await waitingJobs(target.stores, lane);
      if (isOnlyListed(chosen, id, options, 'discard', 'discard')) return;
      const { reason } = options;
      await inTurn(
        chosen,
        (job) => discardJob(job, { by: operatorOf(target), reason }, target.stores),
        ({ id }) => `${id} is discarded`,
        options,
      );
    });

/** Options for a choice of several jobs. */
interface Several {
  parkedFor?: string;
  yes?: boolean;
  json?: boolean;
}

interface ResolveCommandOptions extends Several {
  done?: string;
  again?: boolean;
  search?: boolean;
}

/** Returns the chosen way. @throws {Error} unless exactly one is chosen */
function wayOf({ done, again, search }: ResolveCommandOptions): 'done' | 'again' | 'search' {
  if ([done, again, search].filter((said) => said !== undefined).length !== 1)
    throw new Error('use exactly one of --done <created id>, --again and --search');
  if (done !== undefined) return 'done';
  return again ? 'again' : 'search';
}

async function resolutionOf(way: 'done' | 'again' | 'search', done: string, open: OpenTarget): Promise<Resolution> {
  if (way !== 'done') return way;
  return { done, verify: await verifyingWith(open) };
}

/** Asks the relay's service whether something exists, within the budget. */
export async function verifyingWith(open: OpenTarget) {
  const config = await loadConfig();
  return createVerifyCreated(config, (name) => openPartner(name, config, open, (line) => console.error(line)));
}

const sayQueued = ({ id }: Job, before: Job) =>
  `${id} is queued again${isOutcomeUnknown(before) ? '. It searches once more, and creates nothing' : ''}`;

/**
 * Says what a replayed job waits on, and how to test it at once.
 * @param said the reasons that the lines of earlier jobs have said
 */
async function sayReplayed(next: Job, before: Job, stores: Stores, said: Set<string>): Promise<string> {
  const waitsOn = await whyWaitsOn(before, stores);
  if (!waitsOn) return sayQueued(next, before);
  const { id, connection } = next;
  if (said.has(waitsOn)) return `${id} is replayed, and waits for the same reason`;
  said.add(waitsOn);
  const search = isOutcomeUnknown(before) ? ' Then it searches once more, and creates nothing.' : '';
  const isBudget = waitOf(before)?.for === 'budget';
  const test = isBudget ? '' : ` To try now, run: ${toPaste(`npx partner-relay resume ${connection}`)}`;
  return `${id} is replayed, and waits until this is over: ${oneLine(waitsOn)}.${search}${test}`;
}

/** Decides one job after the other, and prints each. @throws {Error} at the end, with all failures */
async function inTurn(
  jobs: readonly Job[],
  decide: (job: Job) => Promise<Job>,
  inWords: (job: Job, before: Job) => string | Promise<string>,
  { json }: Several,
): Promise<void> {
  const decided: Job[] = [];
  const failures: string[] = [];
  for (const job of jobs) {
    try {
      const next = await decide(job);
      decided.push(next);
      if (!json) console.log(await inWords(next, job));
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  if (json) printJson(withIsoTimes(decided));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

/**
 * Lists several jobs before they are decided: the text may match too many.
 * @returns true if they were only listed
 */
function isOnlyListed(
  chosen: readonly Job[],
  id: string | undefined,
  { yes, json }: Several,
  verb: 'replay' | 'resolve' | 'discard',
  choice: Choice,
): boolean {
  if (id !== undefined || yes) return false;
  if (json) {
    printJson(withIsoTimes(chosen));
    return true;
  }
  printJobs(chosen);
  const these = chosen.length === 1 ? 'this job' : `these ${chosen.length} jobs`;
  const rest = chosen.length < CHOSEN_AT_ONCE ? '' : '; if there are more, use the same command after that';
  const later = chosen.flatMap((job) => nextStep(job, localTime, Date.now())?.later ?? []);
  const times = later.filter(({ choices }) => choices.includes(choice)).map(({ from }) => from);
  const early = ` A job is refused while the service may still carry out its request: the last one until ${localTime(Math.max(...times, 0))}.`;
  console.log(`\nAdd --yes to ${verb} ${these}${rest}.${times.length === 0 ? '' : early}`);
  return true;
}

/**
 * Returns the job with this id, or the parked jobs that `isWanted` accepts and that have the text in their reason.
 * @param which describes these jobs in the error
 * @throws {Error} if no job is parked for that reason
 */
async function chosenJobs(
  stores: Stores,
  id: string | undefined,
  parkedFor: string | undefined,
  isWanted: (job: Job) => boolean = () => true,
  which = '',
): Promise<Job[]> {
  if ((id === undefined) === (parkedFor === undefined)) throw new Error('name a job, or choose jobs with --parked-for');
  if (id !== undefined) return [await knownJob(stores, id)];
  // A text that begins with a number does not match inside of a marker or an id.
  const wanted = new RegExp(`${/^\w/.test(parkedFor ?? '') ? '(?<![\\w-])' : ''}${RegExp.escape(parkedFor ?? '')}`);
  const chosen = await allJobs(
    stores,
    { statuses: ['parked'] },
    (job) => wanted.test(job.parked?.reason ?? '') && isWanted(job),
  );
  if (chosen.length > 0) return chosen;
  const parked = ['no job is parked', which, `for a reason that contains '${parkedFor}'`].filter(Boolean).join(' ');
  throw new Error(`${parked}; to list the parked jobs with their reasons, run: npx partner-relay jobs --status parked`);
}

/** The jobs that wait in this lane. @throws {Error} if there are none */
async function waitingJobs(stores: Stores, lane: Lane): Promise<Job[]> {
  const chosen = await allJobs(stores, { statuses: ['waiting'], lane });
  if (chosen.length === 0) throw new Error(`no job waits in the lane ${lane}`);
  return chosen;
}

/** Searches all jobs, and returns the first that match. */
async function allJobs(
  { table, clock }: Stores,
  filter: JobFilter,
  isWanted: (job: Job) => boolean = () => true,
): Promise<Job[]> {
  const wanted: Job[] = [];
  for (let cursor: string | undefined; ; ) {
    const options = { filter, cursor, limit: CHOSEN_PAGE, maxPages: 10 };
    const found = await findJobs(table, { ...options, now: clock() });
    wanted.push(...found.jobs.filter(isWanted));
    cursor = found.cursor;
    if (cursor === undefined || wanted.length >= CHOSEN_AT_ONCE) return wanted.slice(0, CHOSEN_AT_ONCE);
  }
}
