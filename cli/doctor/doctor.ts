import { type ReadFolder, readOwnAutomations } from '../../lib/automations/own/folder.ts';
import { tooFewWorkers } from '../../lib/config/capacity.ts';
import { loadConfig } from '../../lib/config/config-file.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { createGithubClient } from '../../lib/platforms/github/github-client.ts';
import { movedRepositories } from '../../lib/platforms/github/moved-repositories.ts';
import { createSlackApi } from '../../lib/platforms/slack/slack-api.ts';
import { type Budget, createBudget } from '../../lib/service/budget/budget.ts';
import type { Limits } from '../../lib/service/budget/window.ts';
import { BaseUrlError } from '../../lib/service/partner/base-url.ts';
import type { PartnerClient } from '../../lib/service/partner/client.ts';
import { SecretError } from '../../lib/state/secrets/secrets.ts';
import { versionFault, type Wrote } from '../../lib/state/table/versions.ts';
import { messageOf } from '../../lib/text.ts';
import { VERSION } from '../../lib/version.ts';
import type { Define } from '../cli.ts';
import { readOwnFolder } from '../own-folder.ts';
import { openPartner } from '../partner.ts';
import { printJson } from '../print.ts';
import { NoRelay, type OpenTarget } from '../target.ts';
import { checkBeforeDeploy } from './before-deploy.ts';
import { checkCalendars } from './calendars.ts';
import { checkConnection } from './connection.ts';
import { credentialsOf } from './credentials.ts';
import { type Finding, printFindings } from './finding.ts';
import { checkGithub } from './github.ts';
import { checkGithubIds } from './github-ids.ts';
import { checkOwnFiles, checkOwnSenders } from './own.ts';
import { checkSlack } from './slack.ts';
import { checkStage } from './stage.ts';

const TIMEOUT_MS = 10_000;

/** `doctor`: checks everything that it can check without creating anything. */
export const defineDoctor: Define = (command, { open, stage: named }) =>
  command
    .description('check the configuration, the credentials and the assumed operations; creates nothing')
    .option('--json', 'as JSON')
    .option('--before-deploy', 'with --stage: check what would stop a deployment of the stage to this account')
    .option('--import-existing-resources', 'with --before-deploy: as deploy will be called')
    .addHelpText(
      'after',
      `
Checks what relay.config.ts names: each connection (key, encryption, projects, people, fields and filters of lists),
GitHub (webhook secret, App or token, repositories, labels), the files of automations/ and Slack (credentials, channels, user groups, people and
addresses). ✓ means correct, ✗ wrong, ? unknown: of what the relay assumes of the service, ✓ was seen, ✗ is
contradicted, and ? was not tried, with the reason. The exit status is 1 if anything is wrong.

Calls to the partner API use the relay's budget as background work, so people's commands go first.`,
    )
    .action(async (options: { json?: boolean; beforeDeploy?: boolean; importExistingResources?: boolean }) => {
      const stage = named();
      if (options.beforeDeploy && stage === undefined) throw new Error('name the stage to deploy with --stage');
      const config = await loadConfig();
      const findings =
        options.beforeDeploy && stage !== undefined
          ? await checkBeforeDeploy(config, stage, {
              own: (await readOwnAutomations(config)).own,
              version: VERSION,
              isImporting: options.importExistingResources,
            })
          : await examineRelay(config, open, stage);
      if (options.json) printJson(findings);
      else printFindings(findings);
      if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
    });

/** Checks everything that the configuration names and, for a stage, its account. */
export async function examineRelay(config: RelayConfig, open: OpenTarget, stage?: string): Promise<Finding[]> {
  const findings = await examine(config, open, (line) => console.error(line));
  const ofStage = stage === undefined ? [] : await checkStage(config, stage, (await readOwnAutomations(config)).own);
  return [...findings, ...checkWorkers(config, stage), ...ofStage];
}

/** Whether events of one connection wait behind those of others. */
function checkWorkers(config: RelayConfig, stage?: string): Finding[] {
  const few = tooFewWorkers(config, stage === undefined ? undefined : config.deployment.stages[stage]);
  return few === undefined ? [] : [{ what: 'background workers', verdict: 'unknown', detail: few }];
}

/** Checks everything that the configuration names. */
export async function examine(
  config: RelayConfig,
  open: OpenTarget,
  tell: (line: string) => void,
  given?: ReadFolder,
): Promise<Finding[]> {
  const folder = given ?? (await readOwnFolder(config));
  const connections = Object.keys(config.connections);
  const repositories = config.github.repositories.map(({ name }) => name);
  const findings: Finding[] = [
    {
      what: 'relay.config.ts',
      verdict: 'good',
      detail: `connections: ${connections.join(', ')}; repositories: ${repositories.join(', ') || 'none'}`,
    },
  ];
  findings.push(...checkOwnFiles(folder, config));
  // The table comes last: it has the budget of an unused connection only after its check.
  const ofConnections: Finding[] = [];
  for (const name of connections) ofConnections.push(...(await checkConnectionOf(name, config, open, tell)));
  findings.push(...(await checkTable(config, open)), ...ofConnections);
  return [...findings, ...(await checkPlatforms(config, open, folder))];
}

/** A clock that is off by less is not reported. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Compares the clock with the table's, the budgets of the connections, and their limits with what was learned. */
async function checkTable(config: RelayConfig, open: OpenTarget): Promise<Finding[]> {
  const connections = Object.keys(config.connections);
  const target = await open().catch((error: unknown) => {
    if (error instanceof NoRelay) return undefined;
    throw error;
  });
  if (!target) return [];
  const { table } = target.stores;
  const budget = createBudget({ table });
  const ids = await Promise.all(connections.map((name) => budget.idOf(name)));
  const ahead = table.clock.aheadMs();
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const clock: Finding =
    Math.abs(ahead) <= CLOCK_TOLERANCE_MS
      ? { what: 'clock', verdict: 'good', detail: "agrees with the table's" }
      : {
          what: 'clock',
          verdict: 'bad',
          detail: `this machine is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the table; the relay corrects that, but set the clock`,
        };
  const shared = Map.groupBy(connections, (_, index) => ids[index] ?? '');
  const sharing = [...shared.values()].filter((names) => names.length > 1);
  const limits = await Promise.all(
    Object.entries(config.connections).map(([name, { limits }]) => checkLimit(name, limits, budget)),
  );
  return [
    clock,
    ...checkVersion(target.wrote),
    ...limits.flat(),
    ...sharing.map((names): Finding => {
      const detail = 'they have the same key, so they share one budget; give each a key of its own';
      return { what: names.join(' and '), verdict: 'unknown', detail };
    }),
  ];
}

/** Whether this version could follow the one that is deployed. */
function checkVersion(wrote: Wrote | undefined): Finding[] {
  if (!wrote) return [];
  const fault = versionFault(wrote, VERSION);
  const detail = fault ?? `${wrote.version} is deployed, and this is ${VERSION}`;
  return [{ what: 'version', verdict: fault === undefined ? 'good' : 'bad', detail }];
}

/** What the relay assumes instead of the configured limit, if the service has refused calls below it. */
async function checkLimit(name: string, limits: Limits, budget: Budget): Promise<Finding[]> {
  const { assumed } = await budget.view(name, limits);
  if (!assumed) return [];
  const detail = `the service seems to allow ${assumed.perMinute} calls a minute, not ${limits.perMinute}: other software uses the key, or its limit is lower; give the other software a key of its own, or set this lower`;
  return [{ what: `connections.${name}.limits.perMinute`, verdict: 'unknown', detail }];
}

/** A missing or invalid secret becomes a finding, so that it does not hide other errors. */
async function checkConnectionOf(
  name: string,
  config: RelayConfig,
  open: OpenTarget,
  tell: (line: string) => void,
): Promise<Finding[]> {
  let call: PartnerClient['call'];
  try {
    call = await openPartner(name, config, open, tell);
  } catch (error) {
    if (!(error instanceof SecretError || error instanceof BaseUrlError)) throw error;
    return [{ what: `${name}: credentials`, verdict: 'bad', detail: error.message }];
  }
  return checkConnection(name, config, call);
}

/** Checks GitHub, Slack and the calendars with the credentials of the relay, or without one with those that a start would use. */
async function checkPlatforms(config: RelayConfig, open: OpenTarget, folder: ReadFolder): Promise<Finding[]> {
  let credentials: Awaited<ReturnType<typeof credentialsOf>>;
  try {
    credentials = await credentialsOf(config, open);
  } catch (error) {
    const why = messageOf(error);
    return [{ what: 'github and slack', verdict: 'unknown', detail: `not checked: ${why}` }];
  }
  const { secrets, table, githubStandIn, slackUrl } = credentials;
  const { fetch } = globalThis;
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, clock: Date.now, fetch });
  const asked = githubStandIn === undefined ? github : undefined;
  // Without the right to read them, the names of the owners decide.
  const moved = table ? await movedRepositories(table, config).catch(() => []) : [];
  const findings = [
    ...(await checkCalendars(config, { secrets, fetch })),
    ...(await checkGithub({ config, secrets, github, isStandIn: !asked, moved })),
    ...(await checkGithubIds(config, asked)),
    ...(await checkOwnSenders(folder, { config, secrets, github: asked })),
  ];
  if (slackUrl === undefined) return findings;
  const slack = createSlackApi({ apiUrl: slackUrl, secrets, fetch, timeoutMs: TIMEOUT_MS });
  return [...findings, ...(await checkSlack({ config, secrets, slack }))];
}
