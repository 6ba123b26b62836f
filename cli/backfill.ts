import { setTimeout } from 'node:timers/promises';
import { Option } from 'commander';
import type { RelayConfig } from '../lib/config/schema.ts';
import { connectionSettings } from '../lib/config/settings.ts';
import { localTime } from '../lib/dates.ts';
import { openWaitingLines } from '../lib/engine/line/waiting-line.ts';
import { RetryAt } from '../lib/engine/record/interruption.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { createLinks } from '../lib/links/links.ts';
import {
  type BackfillPlan,
  type IssueFilter,
  planBackfill,
  repositoryToBackfill,
  type StoredJobs,
  storeBackfill,
} from '../lib/operators/backfill.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import type { Stores } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { counted } from '../lib/text.ts';
import { withGithubAt } from '../local/local-github.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { planInWords, whenDone } from './plan-words.ts';
import { printJson } from './print.ts';

interface BackfillOptions {
  label?: string[];
  state: IssueFilter['state'];
  since?: Date;
  comment?: boolean;
  go?: boolean;
  all?: boolean;
  json?: boolean;
}

const LISTED = 20;
const OF_THE_STAND_IN =
  'Without credentials for GitHub, these are the issues that were sent to this relay since its start.';

/** `backfill`: creates defects for the issues that a repository already has. */
export const define: Define = (command, { open, readConfig }) =>
  command
    .arguments('<repository>')
    .option('--label <name>', 'take only issues with this label; may be repeated', (name, names: string[] = []) => [
      ...names,
      name,
    ])
    .addOption(new Option('--state <state>', 'take issues in this state').choices(['open', 'all']).default('open'))
    .option('--since <time>', `take only issues that were changed since then: ${MOMENTS}`, readMoment)
    .option('--comment', 'comment on each issue with the id of its defect, as for new issues')
    .option('--go', 'begin or continue, after showing the plan')
    .option('--all', `list all issues, not only the first ${LISTED}`)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
  npx partner-relay backfill acme/web
  npx partner-relay backfill acme/web --state all --since 2026-01-01 --go
  npx partner-relay jobs --lane backfill
  npx partner-relay discard --lane backfill --reason 'the wrong label'`,
    )
    .action(async (repository: string, options: BackfillOptions) => {
      const { stores, githubStandIn } = await open();
      if (githubStandIn !== undefined && !options.json) console.log(OF_THE_STAND_IN);
      await backfill(repository, options, stores, withGithubAt(githubStandIn, await readConfig()));
    });

async function backfill(fullName: string, options: BackfillOptions, stores: Stores, config: RelayConfig) {
  const { table, clock, jobs, secrets } = stores;
  const { label: labels, state, since, comment: asked = false, go = false, all = false, json = false } = options;
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, clock: Date.now, fetch });
  const journal = (jobId: string) => openJournal(table, jobId, clock);
  const context = { github, links: createLinks(table, clock), jobs, journal, clock };
  const repository = repositoryToBackfill(config, fullName);
  const { connection } = repository;
  const filter = { state, ...(labels && { labels }), ...(since && { since: wholeSeconds(since) }) };
  const comment = asked && repository.settings.comment;
  const doneAt = (calls: number) =>
    whenDone(connection, calls, 'backfill', { budget: createBudget({ table }), jobs, config });
  const live = (text: string) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  };

  const plan = await planBackfill(repository, filter, context, (read) => live(`${read} issues and pull requests read`))
    .catch((error: unknown) => {
      if (!(error instanceof RetryAt)) throw error;
      throw new Error(`${error.message}; try again at ${localTime(error.dueAt)}`, { cause: error });
    })
    .finally(() => live(''));
  const comments = comment ? plan.created : 0;
  if (json && !go) return printJson({ ...plan, comments, connection });
  if (!json) {
    for (const line of planOf(repository.name, plan, all ? Number.POSITIVE_INFINITY : LISTED)) console.log(line);
    console.log(
      `${counted(plan.calls, 'call')} on the connection ${connection}, and ${comments === 0 ? 'no comments' : counted(comments, 'comment')} on GitHub; ${await doneAt(plan.calls)}`,
    );
  }
  if (!go) return console.log('\nNothing was changed. Add --go to begin.');
  if (!json)
    console.log('\nStop with Ctrl+C, and continue with the same command. Jobs that are stored run without it.');
  const { limits } = connectionSettings(config, connection);
  const onProgress = (found: StoredJobs) => live(`${progress(found)}, of ${counted(plan.issues.length, 'issue')}`);
  const found = await storeBackfill(repository, filter, context, {
    comment,
    limits,
    lines: openWaitingLines(stores),
    sleep: setTimeout,
    onProgress,
  });
  live('');
  if (json) return printJson(found);
  console.log(`All issues are read: ${progress(found)}. See them with: npx partner-relay jobs --lane backfill`);
}

function planOf(name: string, { issues, leftAside, pages, ...calls }: BackfillPlan, most: number): string[] {
  const aside = Object.entries(leftAside).flatMap(([why, count]) =>
    count > 0 ? [why === 'pull request' ? counted(count, why) : `${count} ${why}`] : [],
  );
  const lines = issues
    .slice(0, most)
    .map(({ number, title, plan }) => `  #${number}  ${oneLine(title)}: ${planInWords(plan)}`);
  return [
    `${name}: ${counted(issues.length, 'issue')} to take${aside.length > 0 ? `, and left out: ${aside.join(', ')}` : ''} (${counted(pages, 'request')} to GitHub)`,
    ...lines,
    ...(issues.length > most ? [`  … and ${issues.length - most} more; --all lists them`] : []),
    `defects: ${calls.created} to create, ${calls.updated} to update; issues without a call: ${calls.unchanged}`,
    ...(calls.searches > 0
      ? [`for ${calls.searches} of them, the relay first searches the service, with up to 20 more calls each`]
      : []),
  ];
}

/** `100 jobs stored, 3 under way already, 1 parked, 15 issues without a call` */
function progress({ stored, underWay, parked, unchanged }: StoredJobs): string {
  return [
    `${counted(stored, 'job')} stored`,
    ...(underWay > 0 ? [`${underWay} under way already`] : []),
    ...(parked > 0 ? [`${parked} parked`] : []),
    `${counted(unchanged, 'issue')} without a call`,
  ].join(', ');
}

/** GitHub's format of times: ISO 8601 in UTC without milliseconds. */
function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+/, '');
}
