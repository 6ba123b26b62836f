import type { RelayConfig } from '../../lib/config/schema.ts';
import { compareEcho } from '../../lib/credentials/echo.ts';
import type { PartnerClient } from '../../lib/service/partner/client.ts';
import { PartnerError } from '../../lib/service/partner/errors.ts';
import { type Operation, withOverride } from '../../lib/service/partner/operation.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { listProjects } from '../../lib/service/partner/operations/projects.ts';
import { searchTasks, taskDetail } from '../../lib/service/partner/operations/tasks.ts';
import { listUsers } from '../../lib/service/partner/operations/users.ts';
import { pages } from '../../lib/service/partner/pages.ts';
import { validate } from '../../lib/service/partner/validate.ts';
import { CannotTell, check, type Finding } from './finding.ts';
import { compareFields, compareFilter, compareTask, listsToCheck, readRows, type ServiceRow } from './lists.ts';

const PROJECT_PAGES = 20;
const USER_PAGES = 50;

/** Checks one connection: its key, the configured projects and people, lists and filters. */
export async function checkConnection(
  name: string,
  config: RelayConfig,
  call: PartnerClient['call'],
): Promise<Finding[]> {
  const credentials = await check(`${name}: credentials`, () => compareEcho((payload) => call(validate, payload)));
  if (credentials.verdict === 'bad') return [credentials];
  const findings = [credentials];
  const projects = projectsOf(name, config);
  if (projects.length > 0) findings.push(...(await checkProjects(name, projects, call)));

  const overrides = config.connections[name]?.operations ?? {};
  const asHere = <O extends Operation>(declared: O) => withOverride(declared, overrides[declared.name]);
  for (const list of listsToCheck(projects[0]?.id)) {
    const operation = asHere(list.operation);
    let rows: ServiceRow[] = [];
    const fields = await check(`${name}: ${operation.name}`, async () => {
      rows = await readRows(call, operation, list.payload).catch(withPathHint);
      return compareFields(operation, rows);
    });
    findings.push(fields);
    if (fields.verdict === 'bad') continue;
    if (operation.name === searchTasks.name) {
      const what = `${name}: ${taskDetail.name}`;
      findings.push(await check(what, () => compareTask(call, asHere(taskDetail), rows).catch(withPathHint)));
    }
    for (const filter of list.filters) {
      const what = `${name}: ${operation.name} by ${filter.name}`;
      findings.push(await check(what, () => compareFilter(call, { ...list, operation }, filter, rows)));
    }
  }
  const addresses = addressesOf(name, config);
  if (addresses.size > 0) {
    findings.push(await check(`${name}: people`, () => compareAddresses(addresses, asHere(listUsers), call)));
  }
  return [...findings, ...notTried(name), ...statusesOf(name, config)];
}

interface NamedProject {
  /** The path of the setting in relay.config.ts. */
  path: string;
  id: string;
}

function projectsOf(connection: string, { github, slack }: RelayConfig): NamedProject[] {
  const ofRepositories = github.repositories.flatMap((repository, index) =>
    repository.connection === connection && repository.issueToDefect
      ? [{ path: `github.repositories.${index}.issueToDefect.projectId`, id: repository.issueToDefect.projectId }]
      : [],
  );
  const ofChannels = Object.entries(slack?.channels ?? {}).flatMap(([channel, { connection: own, projectId }]) =>
    projectId !== undefined && (own ?? slack?.connection) === connection
      ? [{ path: `slack.channels.${channel}.projectId`, id: projectId }]
      : [],
  );
  return [...ofRepositories, ...ofChannels];
}

async function checkProjects(
  connection: string,
  named: readonly NamedProject[],
  call: PartnerClient['call'],
): Promise<Finding[]> {
  const known = new Map<string, { name: string; isActive: boolean }>();
  const read = await check(`${connection}: projects/list`, async () => {
    for await (const { data } of pages(call, listProjects, {}, PROJECT_PAGES)) {
      for (const { project_id, name, isactive } of data) {
        known.set(project_id.toLowerCase(), { name: name ?? project_id, isActive: isactive !== false });
      }
    }
    return `${known.size} projects`;
  });
  if (read.verdict === 'bad') return [read];
  const findings = named.map(({ path, id }) =>
    check(`${connection}: ${path}`, async () => {
      const project = known.get(id.toLowerCase());
      if (!project) throw new Error(`the key cannot access the project ${id}; it can access ${fewOf(known)}`);
      if (!project.isActive) throw new CannotTell(`the project ${project.name} is not active`);
      return project.name;
    }),
  );
  return [read, ...(await Promise.all(findings))];
}

const SHOWN = 10;

function fewOf(known: ReadonlyMap<string, { name: string }>): string {
  const shown = [...known].slice(0, SHOWN).map(([id, { name }]) => `${id} (${name})`);
  if (known.size === 0) return 'none';
  return `${shown.join(', ')}${known.size > SHOWN ? ` and ${known.size - SHOWN} more` : ''}`;
}

/**
 * The configured addresses of users of the service, with the path of each in relay.config.ts. With several connections,
 * `people` is left out, because it does not say which service a person belongs to.
 */
function addressesOf(connection: string, { connections, people, timesheets }: RelayConfig): Map<string, string> {
  const isOnly = Object.keys(connections).length === 1;
  const named = [
    ...(isOnly ? people : []).map(({ email }, index) => [email, `people.${index}.email`] as const),
    ...(timesheets?.teams ?? []).flatMap((team, index) => {
      if (team.connection !== connection) return [];
      const members = team.people === 'all' ? [] : team.people;
      const at = `timesheets.teams.${index}`;
      return [
        ...members.map((email, place) => [email, `${at}.people.${place}`] as const),
        ...team.partTime.map(({ email }, place) => [email, `${at}.partTime.${place}.email`] as const),
        ...team.quiet.map((email, place) => [email, `${at}.quiet.${place}`] as const),
      ];
    }),
  ];
  return new Map(named.map(([email, path]) => [email.toLowerCase(), path]));
}

async function compareAddresses(
  addresses: ReadonlyMap<string, string>,
  operation: typeof listUsers,
  call: PartnerClient['call'],
): Promise<string> {
  const known = new Set<string>();
  for await (const { data } of pages(call, operation, {}, USER_PAGES)) {
    for (const { email } of data) if (email) known.add(email.trim().toLowerCase());
  }
  const missing = [...addresses].filter(([email]) => !known.has(email));
  if (missing.length === 0)
    return addresses.size === 1
      ? 'the service has the one address of the configuration'
      : `the service has all ${addresses.size} addresses of the configuration`;
  throw new Error(
    `no user of the service has the address of ${missing.map(([email, path]) => `${path} (${email})`).join(', ')}`,
  );
}

/** Doctor changes nothing, so it cannot try operations that create or link something. */
function notTried(connection: string): Finding[] {
  return [...operations.values()]
    .filter(({ evidence, effect }) => effect === 'unknown' || (evidence === 'assumed' && effect === 'create'))
    .map(({ name, evidence, effect }) => ({
      what: `${connection}: ${name}`,
      verdict: 'unknown',
      detail: `${evidence}${effect === 'unknown' ? ', but not what a second call does' : ''}; not tried, because it changes something; to try it, run: npm run -s relay -- call ${name} '{…}'`,
    }));
}

/** Which statuses a scenario may have is not shown, and nothing reads a scenario. */
function statusesOf(of: string, { github }: RelayConfig): Finding[] {
  const detail =
    'whether the service knows the values of tests.status is not shown; the check of the first run says so';
  const isUsed = github.repositories.some(({ connection, tests }) => tests && connection === of);
  return isUsed ? [{ what: `${of}: test-scenarios/update`, verdict: 'unknown', detail }] : [];
}

function withPathHint(error: unknown): never {
  if (error instanceof PartnerError && error.status === 404) {
    throw new Error(`${error.message}; check the path under operations in relay.config.ts`, { cause: error });
  }
  throw error;
}
