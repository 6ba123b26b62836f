import { type ReadFolder, readCustomAutomations } from '../../lib/automations/custom/folder.ts';
import { type Check, type Checks, check, type Finding } from '../../lib/checks/check.ts';
import { tooFewWorkers } from '../../lib/config/capacity.ts';
import { loadConfig } from '../../lib/config/config-file.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { createGithubClient } from '../../lib/platforms/github/github-client.ts';
import { movedRepositories } from '../../lib/platforms/github/moved-repositories.ts';
import { createSlackApi } from '../../lib/platforms/slack/slack-api.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { BaseUrlError } from '../../lib/service/partner/base-url.ts';
import { SecretError } from '../../lib/state/secrets/secrets.ts';
import { versionFault } from '../../lib/state/table/versions.ts';
import { messageOf } from '../../lib/text.ts';
import { VERSION } from '../../lib/version.ts';
import type { Define } from '../cli.ts';
import { readCustomFolder } from '../custom-folder.ts';
import { openPartner } from '../partner.ts';
import { printJson } from '../print.ts';
import { type OpenTarget, unlessNone } from '../target.ts';
import { checkBeforeDeploy } from './before-deploy.ts';
import { calendarChecks } from './calendars.ts';
import { connectionCheck } from './connection.ts';
import { credentialsOf } from './credentials.ts';
import { atOnce, inOrder, printFindings } from './finding.ts';
import { githubChecks, idChecks } from './github.ts';
import { fileFindings, senderChecks } from './own.ts';
import { slackChecks } from './slack.ts';
import { concurrencyCheck } from './stage.ts';

const TIMEOUT_MS = 10_000;

/** `doctor`: checks everything that can be checked without creating anything. */
export const define: Define = (command, { open, stage: named }) =>
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
              custom: (await readCustomAutomations(config)).custom,
              version: VERSION,
              isImporting: options.importExistingResources,
            })
          : await examineRelay(config, open, stage);
      tellFindings(findings, options.json);
    });

/** Prints the findings. A bad finding sets the exit status to 1. */
export function tellFindings(findings: readonly Finding[], asJson = false): void {
  if (asJson) printJson(findings);
  else printFindings(findings);
  if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = 1;
}

/** Checks everything that the configuration names and, for a stage, its AWS account. */
export async function examineRelay(config: RelayConfig, open: OpenTarget, stage?: string): Promise<Finding[]> {
  const few = tooFewWorkers(config, stage === undefined ? undefined : config.deployment.stages[stage]);
  return [
    ...(await examine(config, open, (line) => console.error(line))),
    ...(await inOrder([
      few !== undefined && { what: 'background workers', verdict: 'unknown', detail: few },
      stage !== undefined && concurrencyCheck(config, stage, (await readCustomAutomations(config)).custom),
    ])),
  ];
}

/** Checks everything that the configuration names. */
export async function examine(
  config: RelayConfig,
  open: OpenTarget,
  tell: (line: string) => void,
  given?: ReadFolder,
): Promise<Finding[]> {
  const folder = given ?? (await readCustomFolder(config));
  const connections = Object.keys(config.connections);
  const repositories = config.github.repositories.map(({ name }) => name).join(', ') || 'none';
  const detail = `connections: ${connections.join(', ')}; repositories: ${repositories}`;
  const ofConnections: Finding[] = [];
  for (const name of connections)
    ofConnections.push(...(await inOrder([await openConnection(name, config, open, tell)])));
  return inOrder([
    { what: 'relay.config.ts', verdict: 'good', detail },
    fileFindings(folder, config),
    // The table comes last: the budget of an unused connection is in it only after the connection's check.
    await tableFindings(config, open),
    ofConnections,
    await platformChecks(config, open, folder),
  ]);
}

/** Turns a missing or invalid secret into a finding, so that the other checks still run. */
async function openConnection(
  name: string,
  config: RelayConfig,
  open: OpenTarget,
  tell: (line: string) => void,
): Promise<Check | Finding> {
  try {
    return connectionCheck(name, config, await openPartner(name, config, open, tell));
  } catch (error) {
    if (!(error instanceof SecretError || error instanceof BaseUrlError)) throw error;
    return { what: `${name}: credentials`, verdict: 'bad', detail: error.message };
  }
}

/** Smaller clock differences are not reported. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Compares the clock with the table's, and the connections' limits with those that the relay has learned. */
async function tableFindings(config: RelayConfig, open: OpenTarget): Promise<Checks> {
  const target = await unlessNone(open);
  if (!target) return [];
  const {
    stores: { table },
    wrote,
  } = target;
  const budget = createBudget({ table });
  const connections = await Promise.all(
    Object.entries(config.connections).map(async ([name, { limits }]) => {
      const [id, { assumed }] = await Promise.all([budget.idOf(name), budget.view(name, limits)]);
      return { name, limits, id, assumed };
    }),
  );
  const ahead = table.clock.aheadMs();
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  return [
    check('clock', () => {
      if (Math.abs(ahead) <= CLOCK_TOLERANCE_MS) return "this machine's clock agrees with that of the database";
      const differs = `${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the database`;
      throw new Error(`this machine is ${differs}; the relay corrects that, but set the clock`);
    }),
    // Whether this version can replace the deployed version.
    wrote &&
      check('version', () => {
        const fault = versionFault(wrote, VERSION);
        if (fault !== undefined) throw new Error(fault);
        return `${wrote.version} is deployed, and this is ${VERSION}`;
      }),
    connections.map(
      ({ name, limits, assumed }) =>
        assumed && {
          what: `connections.${name}.limits.perMinute`,
          verdict: 'unknown',
          detail: `the service seems to allow ${assumed.perMinute} calls a minute, not ${limits.perMinute}: other software uses the key, or its limit is lower; give the other software a key of its own, or set this lower`,
        },
    ),
    [...Map.groupBy(connections, ({ id }) => id).values()].map(
      (sharing) =>
        sharing.length > 1 && {
          what: sharing.map(({ name }) => name).join(' and '),
          verdict: 'unknown',
          detail: 'they have the same key, so they share one budget; give each a key of its own',
        },
    ),
  ];
}

/** Checks GitHub, Slack and the calendars with the relay's credentials, or without a relay, with those of a start. */
async function platformChecks(config: RelayConfig, open: OpenTarget, folder: ReadFolder): Promise<Checks> {
  let credentials: Awaited<ReturnType<typeof credentialsOf>>;
  try {
    credentials = await credentialsOf(config, open);
  } catch (error) {
    return [{ what: 'github and slack', verdict: 'unknown', detail: `not checked: ${messageOf(error)}` }];
  }
  const { secrets, table, githubStandIn, slackUrl } = credentials;
  const { fetch } = globalThis;
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, clock: Date.now, fetch });
  const asked = githubStandIn === undefined ? github : undefined;
  // If the table cannot be read, only the owners' names are compared.
  const moved = table ? await movedRepositories(table, config).catch(() => []) : [];
  const ids = await atOnce(await idChecks(config, asked));
  return [
    calendarChecks(config, { secrets, fetch }),
    githubChecks({ config, secrets, github, isStandIn: !asked, moved }),
    ids,
    senderChecks(folder, { config, secrets, github: asked }),
    slackUrl !== undefined &&
      slackChecks({
        config,
        secrets,
        slack: createSlackApi({ apiUrl: slackUrl, secrets, fetch, timeoutMs: TIMEOUT_MS }),
      }),
  ];
}
