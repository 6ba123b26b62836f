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
    .addOption(new Option('--status <status>', 'only those').choices(statuses))
    .option('--limit <count>', 'how many at the most', count, 20)
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
    .description('what happened to a job, step by step')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const { jobs, table } = (await open()).stores;
      const job = known(await jobs.get(id), id);
      const steps = (await openJournal(table, id, Date.now)).entries();
      options.json ? printJson({ ...job, steps }) : printJob(job, steps);
    });

  program
    .command('replay [id]')
    .description('let a parked job go on, or a waiting one at once; steps that are done are not done again')
    .option('--reason <text>', 'instead of one job all that were parked with this in their reason')
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
      if (requeued.length < chosen.length) throw new Error('the others changed in this moment; look at them again');
    });

  program
    .command('resolve [id]')
    .description('decide a job that is parked because it is unknown whether its creation was carried out')
    .option('--done <created id>', 'it was carried out, and this is the id of what it created')
    .option('--again', 'it was not carried out: look for it once more, then create it again')
    .option('--search', 'look in the service once more')
    .option('--reason <text>', 'instead of one job all that are parked for it with this in their reason')
    .option('--yes', 'with --reason: do it, instead of listing the jobs')
    .action(async (id: string | undefined, options: ResolveOptions) => {
      const decision = decisionOf(options);
      if (options.reason !== undefined && typeof decision === 'object')
        throw new Error('--done is the id of one creation: name its job instead of a --reason');
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
          else await resolveJob(job, decision, { ...stores, clock: Date.now });
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

/** @throws {Error} unless one thing is said */
function decisionOf({ done, again, search }: ResolveOptions): Resolution | 'search' {
  if ([done, again, search].filter((said) => said !== undefined).length !== 1)
    throw new Error('say one of --done <created id>, --again and --search');
  if (done !== undefined) return { done: idFromText(done) };
  return again ? 'again' : 'search';
}

/** A job with an open creation looks for it before anything else. */
async function searchAgain(job: Job, stores: Stores): Promise<void> {
  if (job.status !== 'parked' || !job.parked?.outcomeUnknown) {
    throw new Error(`it is ${job.status}, and not parked with an unknown outcome`);
  }
  if (!(await requeueJob(job, stores))) throw new Error('it changed in this moment; look at it again');
}

const CHOSEN_AT_ONCE = 1_000;

/** The job of that id, or the parked ones with that in their reason that are wanted too. */
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
  if (!job) throw new Error(`there is no job ${id}; the newest are in: npm run -s relay -- jobs`);
  return job;
}

function count(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('expected a whole number from 1.');
  return number;
}
