import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { Job, JobStatus } from '../lib/jobs/job.ts';
import type { JobStore } from '../lib/jobs/job-store.ts';
import { openJournal } from '../lib/jobs/journal.ts';
import { resolveJob } from '../lib/jobs/resolve.ts';
import { requeueJob } from '../lib/jobs/sweep.ts';
import { idFromText } from '../lib/partner/operation.ts';
import { printJob, printJobs, printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

const statuses: readonly JobStatus[] = ['queued', 'running', 'waiting', 'succeeded', 'parked'];

/** `jobs`, `job` and `replay`. */
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
      const chosen = await jobsToReplay(jobs, id, options.reason);
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
    .command('resolve <id>')
    .description('decide a job that is parked because nobody knows whether its creation was carried out')
    .option('--done <created id>', 'it was carried out, and this is the id of what it created')
    .option('--again', 'it was not carried out: look for it once more, then create it again')
    .action(async (id: string, options: { done?: string; again?: boolean }) => {
      if ((options.done === undefined) === (options.again === undefined))
        throw new Error('say either --done <created id> or --again');
      const { stores } = await open();
      const job = known(await stores.jobs.get(id), id);
      const resolution = options.done === undefined ? 'again' : { done: idFromText(options.done) };
      await resolveJob(job, resolution, { ...stores, clock: Date.now });
      console.log(`${id} is queued again`);
    });
}

const REPLAYED_AT_ONCE = 1_000;

async function jobsToReplay(jobs: JobStore, id: string | undefined, reason: string | undefined): Promise<Job[]> {
  if ((id === undefined) === (reason === undefined)) throw new Error('name either a job or a --reason');
  if (id === undefined) {
    const parked = await jobs.list('parked', { limit: REPLAYED_AT_ONCE });
    return parked.filter((job) => job.parked?.reason.includes(reason ?? ''));
  }
  const job = known(await jobs.get(id), id);
  if (job.status === 'parked' || job.status === 'waiting') return [job];
  throw new Error(`${id} is ${job.status}; only parked and waiting jobs can be replayed`);
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
