import { InvalidArgumentError, Option } from 'commander';
import { createAsNow } from '../console/waits-on.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { findJobs, type JobFilter } from '../lib/engine/operate/find-jobs.ts';
import { countJobs } from '../lib/engine/operate/job-counts.ts';
import { type JobStatus, jobStatuses } from '../lib/engine/record/job.ts';
import { readJob } from '../lib/engine/record/read-job.ts';
import { unknownName } from '../lib/faults/fault.ts';
import { createShowJob } from '../lib/people/names.ts';
import { type Lane, lanes } from '../lib/service/budget/lanes.ts';
import { readIgnored } from '../local/ignored.ts';
import type { Define } from './cli.ts';
import { followJobs } from './follow-jobs.ts';
import { knownJob } from './known-job.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { readCount } from './numbers.ts';
import { printCounts, printIgnored, printJob, printJobs, printJson, printOverview, withIsoTimes } from './print.ts';

/** The most pages of the index that one listing reads. */
const MAX_PAGES = 200;

interface ListOptions {
  status?: JobStatus;
  automation?: string;
  connection?: string;
  lane?: Lane;
  in?: string;
  person?: string;
  delivery?: string;
  text?: string;
  since?: Date;
  limit: number;
  follow?: boolean;
  ignored?: boolean;
  json?: boolean;
}

export const define: Define = (command, { open, readConfig }) =>
  command
    .description('list jobs: those that wait or run, then the last that were parked or ended')
    .addOption(
      new Option('--status <status>', 'only jobs with this status; not-done includes discarded jobs').choices(
        jobStatuses,
      ),
    )
    .option('--automation <name>', 'only jobs of this automation')
    .option('--connection <name>', 'only jobs of this connection')
    .addOption(new Option('--lane <lane>', 'only jobs of this lane, such as those of a backfill').choices(lanes))
    .option('--in <place>', 'only jobs of this repository or issue: owner/repo or owner/repo#42', place)
    .option(
      '--person <name>',
      'only jobs that this person caused: a GitHub login, a Slack user id, or a name that the relay knows',
    )
    .option('--delivery <id>', "only jobs of this delivery: GitHub's X-GitHub-Delivery, or Slack's trigger_id")
    .option('--text <text>', 'only jobs with this text in their id, event, outcome or reason')
    .option('--since <time>', `only jobs made since then: ${MOMENTS}`, readMoment)
    .option('--limit <count>', 'list at most this many jobs', readCount, 20)
    .option('--follow', 'keep running, and show each change of a job')
    .option('--ignored', 'the newest events that made no job, and why')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async ({ follow, ignored, json, limit, ...chosen }: ListOptions) => {
      const target = await open();
      const { table } = target.stores;
      if (ignored) {
        const events = readIgnored(target.logFile, target.stage, limit);
        return json ? printJson(events) : printIgnored(events);
      }
      const filter = filterOf(chosen);
      const shown = createShowJob(target.stores);
      const found = await findJobs(table, { filter, limit, maxPages: MAX_PAGES, now: Date.now(), shown });
      if (chosen.automation !== undefined && found.jobs.length === 0)
        await refuseUnknown(chosen.automation, await readConfig().catch(() => undefined));
      if (json && !follow) return printJson(withIsoTimes(found.jobs));
      if (!json) {
        // Changes are printed below, so the newest job comes last.
        const asNow = createAsNow(target.stores);
        const jobs = await Promise.all(found.jobs.map(async (job) => shown(await asNow(job))));
        if (follow) printJobs(jobs.toReversed());
        else if (filter.statuses) printJobs(jobs);
        else printOverview(jobs);
        printCounts(found, Object.keys(chosen).length === 0 ? await countJobs(table) : undefined);
      }
      if (follow) await followJobs(table, filter, found.jobs, json ?? false);
    });

export const job: Define = (command, { open }) =>
  command
    .arguments('<id>')
    .description('show what happened to a job, step by step; a part of its id is enough')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (id: string, options: { json?: boolean }) => {
      const { stores } = await open();
      const { id: whole } = await knownJob(stores, id);
      const view = await readJob(whole, stores);
      if (!view) throw new Error(`the job ${whole} has just expired`);
      const { job, ...rest } = view;
      options.json
        ? printJson(withIsoTimes({ ...job, ...rest }))
        : printJob({ ...view, job: await createShowJob(stores)(await createAsNow(stores)(job)) }, Date.now());
    });

/**
 * Checks the name of an automation. A name that this folder does not have may still have jobs. @throws {Error} if it
 * has none
 */
async function refuseUnknown(name: string, config: RelayConfig | undefined): Promise<void> {
  if (!config) return;
  const { automationNames } = await import('../lib/automations/automations.ts');
  const { readCustomAutomations: readOwnAutomations } = await import('../lib/automations/custom/folder.ts');
  const { custom } = await readOwnAutomations(config);
  const known = automationNames(custom);
  if (!known.includes(name)) throw new Error(unknownName('there is no automation', name, known));
}

function filterOf({ status, in: place, since, ...rest }: Omit<ListOptions, 'limit'>): JobFilter {
  const statuses = status && [status];
  return { ...rest, ...(statuses && { statuses }), ...(place && { place }), ...(since && { since: since.getTime() }) };
}

function place(text: string): string {
  if (!/^[\w.-]+\/[\w.-]+(#\d+)?$/.test(text)) throw new InvalidArgumentError('expected owner/repo or owner/repo#42.');
  return text;
}
