import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { repositoryToBackfill } from '../lib/automations/backfill/backfill-issue.ts';
import { type Backfill, createBackfills, hasEnded, type IssueFilter } from '../lib/automations/backfill/backfills.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { RetryAt } from '../lib/engine/record/interruption.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { type BackfillView, beginBackfill, setBackfill, viewBackfill } from '../lib/intake/github/operate-backfill.ts';
import { type BackfillPlan, planBackfill } from '../lib/intake/github/plan-backfill.ts';
import { createLinks } from '../lib/links/links.ts';
import { localTime } from '../lib/local-time.ts';
import { createGithubForJobs } from '../lib/platforms/github/github-for-jobs.ts';
import type { Stores } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { counted } from '../lib/text.ts';
import { withGithubAt } from '../local/local-github.ts';
import { oneLine } from '../local/terminal.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { planInWords, whenDone } from './plan-words.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

interface BackfillOptions {
  label?: string[];
  state: IssueFilter['state'];
  since?: Date;
  comment?: boolean;
  go?: boolean;
  pause?: boolean;
  resume?: boolean;
  stop?: boolean;
  status?: boolean;
  wait: boolean;
  all?: boolean;
  json?: boolean;
}

const LISTED = 20;
const OF_THE_STAND_IN =
  'Without credentials for GitHub, these are the issues that were sent to this relay since its start.';
const BAR_WIDTH = 30;
const LOOKS_EVERY_MS = 5_000;

/** `backfill`: turns the issues of a repository that were there before the relay into defects. */
export function addBackfillCommand(
  program: Command,
  open: OpenTarget,
  readConfig: () => Promise<RelayConfig> = loadConfig,
): void {
  program
    .command('backfill [repository]')
    .description('turn the existing issues of a repository into defects; without a repository, list all backfills')
    .option('--label <name>', 'take only issues with this label; may be repeated', (name, names: string[] = []) => [
      ...names,
      name,
    ])
    .addOption(new Option('--state <state>', 'take issues in this state').choices(['open', 'all']).default('open'))
    .option('--since <time>', `take only issues that were changed since then: ${MOMENTS}`, readMoment)
    .option('--comment', 'comment on each issue with the id of its defect, as for new issues')
    .option('--go', 'begin, after showing the plan')
    .option('--no-wait', 'with --go: do not show the progress')
    .option('--status', 'show the progress until the end')
    .option('--pause', 'pause it: no further call is begun')
    .option('--resume', 'continue it')
    .option('--stop', 'end it: what has begun is settled, and the rest is left')
    .option('--all', `list all issues, not only the first ${LISTED}`)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
  npm run -s relay -- backfill acme/web
  npm run -s relay -- backfill acme/web --state all --since 2026-01-01 --go
  npm run -s relay -- --stage prod backfill acme/web --pause`,
    )
    .action(async (repository: string | undefined, options: BackfillOptions) => {
      const { stores, githubStandIn } = await open();
      const backfill = operations(stores, withGithubAt(githubStandIn, await readConfig()));
      if (repository === undefined) return backfill.list(options);
      const chosen = [options.go, options.pause, options.resume, options.stop, options.status].filter(Boolean);
      if (chosen.length > 1) throw new Error('use only one of --go, --pause, --resume, --stop and --status');
      if (options.pause) return backfill.set(repository, 'paused', options);
      if (options.resume) return backfill.set(repository, 'running', options);
      if (options.stop) return backfill.set(repository, 'stopped', options);
      if (options.status) return backfill.follow(repository, options);
      if (githubStandIn !== undefined && !options.json) console.log(OF_THE_STAND_IN);
      return backfill.begin(repository, options);
    });
}

function operations(stores: Stores, config: RelayConfig) {
  const { table, clock, jobs, queue, secrets } = stores;
  const links = createLinks(table, clock);
  const backfills = createBackfills(table, clock);
  const budget = createBudget({ table });
  const github = createGithubForJobs({
    apiUrl: config.github.apiUrl,
    secrets,
    clock: Date.now,
    fetch,
  });
  const journal = (jobId: string) => openJournal(table, jobId, clock);

  async function plan(repository: string, filter: IssueFilter): Promise<BackfillPlan> {
    const isShown = process.stderr.isTTY;
    try {
      return await planBackfill(
        repositoryToBackfill(config, repository),
        filter,
        { github, links, jobs, journal },
        (read) => {
          if (isShown) process.stderr.write(`\r${read} issues and pull requests read`);
        },
      );
    } catch (error) {
      if (!(error instanceof RetryAt)) throw error;
      throw new Error(`${error.message}; try again at ${localTime(error.dueAt)}`, { cause: error });
    } finally {
      if (isShown) process.stderr.write('\r\u001b[K');
    }
  }

  const doneAt = (connection: string, calls: number) =>
    whenDone(connection, calls, 'backfill', { budget, jobs, config });

  async function view(repository: string): Promise<BackfillView> {
    const found = await backfills.get(repository);
    if (!found) throw new Error(`there is no backfill of ${repository}; begin one with --go`);
    return viewBackfill(found, { backfills, jobs });
  }

  async function follow(repository: string, { json, wait }: BackfillOptions): Promise<void> {
    const isLive = Boolean(process.stdout.isTTY) && !json && wait;
    for (;;) {
      const now = await view(repository);
      const isOver = hasEnded(now) || now.status === 'paused' || now.job?.status === 'parked';
      if (isLive && !isOver) {
        const left = Math.max(now.expected - taken(now), 0) + now.counts.open;
        process.stdout.write(`\r\u001b[K${progress(now)}  ${await doneAt(now.connection, left)}`);
        await setTimeout(LOOKS_EVERY_MS);
        continue;
      }
      if (isLive) process.stdout.write('\r\u001b[K');
      if (json) printJson(now);
      else for (const line of inWords(now)) console.log(line);
      if (now.counts.parked > 0 || now.job?.status === 'parked') process.exitCode = 1;
      return;
    }
  }

  return {
    follow,
    async list({ json }: BackfillOptions) {
      const all = await backfills.list();
      if (json) return printJson(all);
      if (all.length === 0)
        console.log('There are no backfills. Begin one with: npm run -s relay -- backfill <owner/repo>');
      for (const one of all) console.log(`${one.repository.padEnd(30)} ${one.status.padEnd(9)} ${progress(one)}`);
    },
    async set(repository: string, status: 'running' | 'paused' | 'stopped', options: BackfillOptions) {
      await setBackfill(repository, status, { backfills, jobs, queue });
      await follow(repository, { ...options, wait: false });
    },
    async begin(fullName: string, options: BackfillOptions) {
      const repository = repositoryToBackfill(config, fullName);
      const { label: labels, state, since, comment: asked = false } = options;
      const filter = { state, ...(labels && { labels }), ...(since && { since: wholeSeconds(since) }) };
      const comment = asked && repository.settings.comment;
      const planned = await plan(repository.name, filter);
      const comments = comment ? planned.created : 0;
      if (options.json && !options.go) return printJson({ ...planned, comments, connection: repository.connection });
      if (!options.json) {
        for (const line of planOf(repository.name, planned, options.all ? Number.POSITIVE_INFINITY : LISTED))
          console.log(line);
        console.log(
          `${counted(planned.calls, 'call')} on the connection ${repository.connection}, and ${comments === 0 ? 'no comments' : counted(comments, 'comment')} on GitHub; ${await doneAt(repository.connection, planned.calls)}`,
        );
      }
      if (!options.go) return console.log('\nNothing was changed. Add --go to begin.');
      const wanted = { repository, filter, comment, expected: planned.issues.length };
      const { began } = await beginBackfill(wanted, { backfills, jobs, queue }, clock());
      if (!options.json) {
        console.log(began ? '\nIt has begun, and goes on without this terminal.' : '\nIt is under way already.');
      }
      await follow(repository.name, options);
    },
  };
}

function planOf(name: string, { issues, leftAside, pages, ...calls }: BackfillPlan, most: number): string[] {
  const aside = Object.entries(leftAside).flatMap(([why, count]) => (count > 0 ? [`${count} ${why}`] : []));
  const lines = issues
    .slice(0, most)
    .map(({ number, title, plan }) => `  #${number}  ${oneLine(title)}: ${planInWords(plan)}`);
  return [
    `${name}: ${counted(issues.length, 'issue')} to take${aside.length > 0 ? `, and left aside: ${aside.join(', ')}` : ''} (${counted(pages, 'request')} to GitHub)`,
    ...lines,
    ...(issues.length > most ? [`  … and ${issues.length - most} more; --all lists them`] : []),
    `defects: ${calls.created} to create, ${calls.updated} to update; issues without a call: ${calls.unchanged}`,
    ...(calls.searches > 0
      ? [`before ${calls.searches} of them the service is searched, with up to 20 more calls each`]
      : []),
  ];
}

const taken = ({ counts }: Backfill) => counts.open + counts.done + counts.left + counts.parked;

/** `[████████░░░░]  80 of 120 issues, 2 left, 1 parked` */
function progress(backfill: Backfill): string {
  const { counts, expected, isRead } = backfill;
  const known = taken(backfill);
  const all = isRead || hasEnded(backfill) ? known : Math.max(expected, known);
  const ended = known - counts.open;
  const filled = all === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * ended) / all);
  const bar = `[${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}]`;
  const left = counts.left > 0 ? `, ${counts.left} left` : '';
  const parked = counts.parked > 0 ? `, ${counts.parked} parked` : '';
  return `${bar}  ${ended} of ${all} issues${left}${parked}`;
}

function inWords(view: BackfillView): string[] {
  const { repository, status, startedAt, finishedAt, job, notDone } = view;
  const ended = finishedAt === undefined ? '' : `, until ${localTime(finishedAt)}`;
  return [
    `${repository}: ${status}, since ${localTime(startedAt)}${ended}`,
    progress(view),
    ...notDone.map(({ number, fate, jobId, why }) => {
      const where = fate === 'parked' && jobId !== undefined ? ` (job ${jobId})` : '';
      return `  #${number}  ${fate === 'parked' ? 'parked' : 'left'}: ${oneLine(why)}${where}`;
    }),
    ...(job?.status === 'parked'
      ? [
          `it cannot go on: ${oneLine(job.parked?.reason ?? '')}`,
          `fix the cause, then: npm run -s relay -- replay ${job.id}`,
        ]
      : []),
    ...(job?.status === 'waiting' && job.waitingFor !== undefined && !hasEnded(view)
      ? [`waiting: ${oneLine(job.waitingFor)}${job.dueAt === undefined ? '' : `, until ${localTime(job.dueAt)}`}`]
      : []),
  ];
}

/** As GitHub writes times: ISO 8601 in UTC without milliseconds. */
function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+/, '');
}
