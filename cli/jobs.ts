import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { Job, JobStatus } from '../lib/jobs/job.ts';
import type { JobStore } from '../lib/jobs/job-store.ts';
import { openJournal } from '../lib/jobs/journal.ts';
import { type Resolution, resolveJob } from '../lib/jobs/resolve.ts';
import { requeueJob } from '../lib/jobs/sweep.ts';
import { idFromText } from '../lib/partner/operation.ts';
import type { Stores } from '../lib/runtime.ts';
import { printJob, printJobs, printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

const statuses: readonly JobStatus[] = ['queued', 'running', 'waiting', 'succeeded', 'parked'];

/** `jobs`, `job`, `replay` and `resolve`. */
export function addJobCommands(program: Command, open: OpenTarget): void {
  program
    .command('jobs')
    .description('list the newest jobs')
    .addOption(new Option('--status <status>', 'list only jobs with this status').choices(statuses))
    .option('--limit <count>', 'list at most this many jobs', count, 20)
    .option('--json', 'as JSON')
    .action(async (options: { status?: JobStatus; limit: number; json?: boolean }) => {
      const { jobs } = (await open()).stores;
      const lists = await Promise.all(
        (options.status ? [options.status] : statuses).map((status) =>
          jobs.list(status, { limit: options.limit, newestFirst: true }),
        ),
      );
      const newest = lists
        .flat()
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, options.limit);
      options.json ? printJson(newest) : printJobs(newest);
    });

  program
    .command('job <id>')
    .description('show what happened to a job, step by step')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const { jobs, table } = (await open()).stores;
      const job = known(await jobs.get(id), id);
      const steps = (await openJournal(table, id, Date.now)).entries();
      options.json ? printJson({ ...job, steps }) : printJob(job, steps);
    });

  program
    .command('replay [id]')
    .description('continue a parked job, or a waiting job at once; completed steps are not repeated')
    .option('--reason <text>', 'instead of one job, all jobs whose reason for being parked contains this text')
    .option('--json', 'as JSON')
    .action(async (id: string | undefined, options: { reason?: string; json?: boolean }) => {
      const { jobs, queue } = (await open()).stores;
      const chosen = await chosenJobs(jobs, id, options.reason);
      const other = chosen.find(({ status }) => status !== 'parked' && status !== 'waiting');
      if (other) throw new Error(`${other.id} is ${other.status}; only parked and waiting jobs can be replayed`);
      const requeued: Job[] = [];
      for (const job of chosen) {
        const next = await requeueJob(job, { jobs, queue });
        if (next) requeued.push(next);
      }
      if (options.json) return printJson(requeued);
      for (const { id } of requeued) console.log(`${id} is queued again`);
      if (requeued.length < chosen.length)
        throw new Error('the other jobs changed in the meantime; check them and try again');
    });

  program
    .command('resolve [id]')
    .description('settle a job that is parked because the outcome of its creation is unknown')
    .option('--done <created id>', 'the creation was carried out; this is the id of the created thing')
    .option('--again', 'the creation was not carried out: search once more, then create it again')
    .option('--search', 'search the service once more')
    .option('--reason <text>', 'instead of one job, all such jobs whose reason contains this text')
    .option('--yes', 'with --reason: apply the decision instead of only listing the jobs')
    .action(async (id: string | undefined, options: ResolveOptions) => {
      const decision = decisionOf(options);
      if (options.reason !== undefined && typeof decision === 'object')
        throw new Error('--done takes the id of one creation: name its job instead of a --reason');
      const { stores } = await open();
      const chosen = await chosenJobs(stores.jobs, id, options.reason, (job) => job.parked?.outcomeUnknown === true);
      if (id === undefined && !options.yes) {
        printJobs(chosen);
        if (chosen.length > 0) console.log(`\nAdd --yes to decide these ${chosen.length} jobs.`);
        return;
      }
      const failures: string[] = [];
      for (const job of chosen) {
        try {
          if (decision === 'search') await searchAgain(job, stores);
          else await resolveJob(job, decision, { ...stores, clock: Date.now, by: userInfo().username });
          console.log(`${job.id} is queued again`);
        } catch (error) {
          failures.push(`${job.id}: ${error instanceof Error ? error.message : error}`);
        }
      }
      if (failures.length > 0) throw new Error(failures.join('\n'));
    });
}

interface ResolveOptions {
  done?: string;
  again?: boolean;
  search?: boolean;
  reason?: string;
  yes?: boolean;
}

/** @throws {Error} unless exactly one option is given */
function decisionOf({ done, again, search }: ResolveOptions): Resolution | 'search' {
  if ([done, again, search].filter((said) => said !== undefined).length !== 1)
    throw new Error('use one of --done <created id>, --again and --search');
  if (done !== undefined) return { done: idFromText(done) };
  return again ? 'again' : 'search';
}

/** Queues the job again. A job with an open creation starts with the search. */
async function searchAgain(job: Job, stores: Stores): Promise<void> {
  if (job.status !== 'parked' || !job.parked?.outcomeUnknown) {
    throw new Error(`the job is ${job.status}, not parked with an unknown outcome`);
  }
  if (!(await requeueJob(job, stores))) throw new Error('the job changed in the meantime; check it and try again');
}

const CHOSEN_AT_ONCE = 1_000;

/** The job with this id, or the parked jobs whose reason contains the text and for which `isWanted` is true. */
async function chosenJobs(
  jobs: JobStore,
  id: string | undefined,
  reason: string | undefined,
  isWanted: (job: Job) => boolean = () => true,
): Promise<Job[]> {
  if ((id === undefined) === (reason === undefined)) throw new Error('name either a job or a --reason');
  if (id !== undefined) return [known(await jobs.get(id), id)];
  const parked = await jobs.list('parked', { limit: CHOSEN_AT_ONCE });
  return parked.filter((job) => job.parked?.reason.includes(reason ?? '') && isWanted(job));
}

function known(job: Job | undefined, id: string): Job {
  if (!job) throw new Error(`there is no job ${id}; to list the newest jobs, run: npm run -s relay -- jobs`);
  return job;
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('expected an integer of at least 1.');
  return number;
}
