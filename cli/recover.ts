import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { localTime } from '../lib/dates.ts';
import { createMarkers } from '../lib/engine/record/markers.ts';
import { createLinks } from '../lib/links/links.ts';
import { hooksTo } from '../lib/operators/hooks-to.ts';
import { createLostDeliveries, type LostDeliveries, type LostPeriod } from '../lib/operators/lost-deliveries.ts';
import {
  type LinksPlan,
  type LostLink,
  planLinks,
  type RecoverLinksOptions,
  recoverLinks,
} from '../lib/operators/recover-links.ts';
import { keptForMs } from '../lib/platforms/github/delivery.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { createHooks, type Hook, targetName } from '../lib/platforms/github/redelivery/hooks.ts';
import { NotNow } from '../lib/platforms/github/redelivery/redelivery-api.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { createConnections } from '../lib/service/connection/connection.ts';
import { callWithinBudget, withTheirClock } from '../lib/service/connection/operator-calls.ts';
import { counted } from '../lib/text.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import { withGithubAt } from '../local/local-github.ts';
import { oneLine } from '../local/terminal.ts';
import { trustCaFile } from '../local/trust.ts';
import type { Define } from './cli.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { readCalls } from './numbers.ts';
import { printJson } from './print.ts';
import type { Target } from './target.ts';
import { toPaste } from './to-paste.ts';

interface RecoverOptions {
  since?: Date;
  until?: Date;
  used?: number;
  go?: boolean;
  json?: boolean;
}

/**
 * How often the rest of the day's calls must suffice to read all defects, so that the command can be stopped and
 * repeated.
 */
const READ_AGAIN = 5;

/** `recover`: rebuilds what is missing after the table was lost or restored. */
export const define: Define = (command, { open, readConfig }) =>
  command
    .description(
      'after the table was lost or restored: find the defects of the issues, and get the lost deliveries again',
    )
    .option(
      '--since <time>',
      `the start of the lost period: ${MOMENTS}; by default as far back as GitHub keeps deliveries`,
      readMoment,
    )
    .option('--until <time>', 'the end of the lost period; by default now', readMoment)
    .option('--used <calls>', 'what each key has sent in that period; by default all that its limits allow', readCalls)
    .option('--go', 'do it, after showing the plan')
    .option('--json', 'the plan as JSON')
    .addHelpText(
      'after',
      `
Without --go, it reads and changes nothing. Stop it with Ctrl+C whenever you like, and run it again to continue.

  npx partner-relay --stage prod recover --since 2026-11-20T09:00Z
  npx partner-relay --stage prod recover --since 2026-11-20T09:00Z --until 2026-11-20T10:00Z --go`,
    )
    .action(async ({ since, until, go, ...options }: RecoverOptions) => {
      const target = await open();
      const config = withGithubAt(target.githubStandIn, await readConfig());
      trustCaFile(config);
      // This read also gets the table's time, which the command uses throughout.
      const known = await createHooks(target.stores.table).known();
      const now = target.stores.clock();
      const period = {
        from: since?.getTime() ?? now - keptForMs(config.github.apiUrl),
        to: until?.getTime() ?? now,
      };
      if (period.to > now) throw new Error(`--until is ahead of the time now, ${localTime(now)}`);
      if (period.from >= period.to) throw new Error('--since must be before --until');
      const { custom } = await readCustomAutomations(config);
      const recovery = operations(target, config, custom, period, known);
      const plan = await recovery.plan();
      if (options.json)
        printJson({ ...period, ...plan, links: { ...plan.links, lost: plan.links.lost.map(withoutState) } });
      else for (const line of inWords(plan, period)) console.log(toPaste(line));
      if (!go) return options.json ? undefined : console.log('\nNothing was changed. Add --go to do it.');
      await recovery.go(plan, options.used, options.json ? () => {} : (line) => console.log(toPaste(line)));
    });

interface Plan {
  links: LinksPlan;
  deliveries: LostDeliveries[];
  /** The repositories and organizations where GitHub refuses to list webhooks. */
  unlisted: string[];
}

function operations(
  { stores, githubWebhookUrl }: Target,
  config: RelayConfig,
  custom: CustomAutomations,
  period: LostPeriod,
  known: readonly Hook[],
) {
  const { table, clock, secrets } = stores;
  const { apiUrl } = config.github;
  const sleep = async (ms: number) => void (await setTimeout(ms));
  const github = createGithubClient({ apiUrl, secrets, clock: Date.now, fetch });
  const repositories = config.github.repositories.map(({ name }) => name);
  const lost = createLostDeliveries({ github, apiUrl, custom, clock, sleep });
  const connections = createConnections({ config, secrets, clock: Date.now, random: randomBytes, fetch });
  const budget = createBudget({ table, keyHolder: connections });
  const links: RecoverLinksOptions = {
    config,
    links: createLinks(table, clock),
    markers: createMarkers(secrets),
    github,
    clock,
    async callOf(name) {
      const connection = connections(name);
      if (!connection) throw new Error(`relay.config.ts has no connection ${name}`);
      const [client, { limits }] = [await connection.client(), connection];
      const tell = (line: string) => console.error(line);
      const within = { client, budget, connection: name, limits, clock, sleep, tell, urgent: true };
      return withTheirClock(callWithinBudget(within));
    },
  };

  /** The hooks in the table, and those that GitHub lists, because a lost table has none. */
  async function allHooks() {
    if (!(await github.isThere())) return { all: known, refused: [] };
    const { hooks: listed, refused } = await hooksTo(githubWebhookUrl, repositories, github);
    const all = new Map([...known, ...listed].map((hook) => [`${targetName(hook)}#${hook.id}`, hook]));
    return { all: [...all.values()], refused };
  }

  return {
    async plan(): Promise<Plan> {
      const planned = await planLinks(links);
      const { all, refused } = await allHooks();
      const deliveries: LostDeliveries[] = [];
      for (const hook of all) deliveries.push(await lost.find(hook, period));
      return { links: planned, deliveries, unlisted: refused };
    },
    async go(plan: Plan, calls: number | undefined, tell: (line: string) => void): Promise<void> {
      for (const [connection, { limits }] of Object.entries(config.connections)) {
        const lists = plan.links.lists.filter((list) => list.connection === connection);
        const left = READ_AGAIN * lists.reduce((sum, list) => sum + list.calls, 0);
        const used = await budget.assumeUsed(connection, limits, { ...period, calls, left });
        tell(`${connection}: ${used} of the day's ${limits.perDay} calls count as used`);
      }
      tell(`${counted(await recoverLinks(plan.links.lost, links), 'link')} written`);
      const [since, until] = [period.from, period.to].map((at) => new Date(at).toISOString());
      const again = `run it again with --since ${since} --until ${until}`;
      let asked = 0;
      try {
        for (const one of plan.deliveries) await lost.ask(one, () => asked++);
      } catch (error) {
        if (!(error instanceof NotNow)) throw error;
        throw new Error(`${error.message}; to continue later, ${again} --go`, { cause: error });
      } finally {
        tell(`deliveries requested again: ${asked}`);
      }
      if (asked > 0) tell(`To see whether they have arrived, ${again}: it then has none to request.`);
    },
  };
}

/** Leaves out the state of an issue, which is long, and which GitHub shows. */
const withoutState = ({ reported, ...link }: LostLink) => link;

function inWords({ links, deliveries, unlisted }: Plan, { from, to }: LostPeriod): string[] {
  return [
    `lost: from ${localTime(from)} to ${localTime(to)}`,
    ...links.lists.map(
      ({ connection, projectId, rows, calls, isComplete }) =>
        `${connection}, project ${projectId}: ${counted(rows, 'defect')} read with ${counted(calls, 'call')}${isComplete ? '' : '; the list may not show all of them'}`,
    ),
    `links: ${links.lost.length} to write, ${links.known} there, ${links.left.length} left to you`,
    ...links.lost.map(({ issue, id }) => `  ${oneLine(issue)}: defect ${oneLine(String(id))}`),
    ...links.left.map(({ defect, why }) => `  left: defect ${oneLine(String(defect.id))}: ${oneLine(why)}`),
    ...(deliveries.length === 0
      ? ['deliveries: no webhook is known; see docs/recovery.md#lost-deliveries']
      : deliveries.map(
          ({ hook, attempts, refused }) =>
            `deliveries of ${hook.kind} ${hook.target}: ${refused ?? `${attempts.length} to ask for`}`,
        )),
    ...(unlisted.length === 0 ? [] : [`GitHub does not list the webhooks of ${unlisted.join(', ')}`]),
  ];
}
