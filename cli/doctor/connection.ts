import { CannotTell, type Check, type Checks, check, type Finding } from '../../lib/checks/check.ts';
import { compareEcho } from '../../lib/checks/connection-credential.ts';
import { addressesOf } from '../../lib/config/addresses.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { markerIn } from '../../lib/engine/record/markers.ts';
import { typesIn } from '../../lib/service/connection/learned.ts';
import type { PartnerClient } from '../../lib/service/partner/client.ts';
import { PartnerError, PartnerRefusal } from '../../lib/service/partner/errors.ts';
import { type Operation, validate, withOverride } from '../../lib/service/partner/operation.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { listProjects } from '../../lib/service/partner/operations/projects.ts';
import { searchTasks, taskDetail } from '../../lib/service/partner/operations/tasks.ts';
import { listTimelogs, timelogDetail } from '../../lib/service/partner/operations/timelogs.ts';
import { listUsers } from '../../lib/service/partner/operations/users.ts';
import { PAGE_SIZE, pages, rowsOf } from '../../lib/service/partner/pages.ts';
import { counted, messageOf } from '../../lib/text.ts';
import {
  compareDetail,
  compareFields,
  compareFilter,
  comparePages,
  compareUsers,
  type ListToCheck,
  listsToCheck,
  longerSearch,
  readRows,
} from './lists.ts';
import { type ServiceRow, textsIn } from './rows.ts';

const PROJECT_PAGES = 20;
const USER_PAGES = 50;

/** Checks one connection: its key, the configured projects and people, lists and filters. */
export function connectionCheck(name: string, config: RelayConfig, call: PartnerClient['call']): Check {
  let offset: number | undefined;
  return check(
    `${name}: credentials`,
    () =>
      compareEcho(async (payload) => {
        const result = await call(validate, payload).catch((error: unknown) => {
          if (!(error instanceof PartnerRefusal) || error.reason !== 'unknown or revoked key') throw error;
          throw new Error(`${error.message}; enter a new key with npx partner-relay secrets set partner/${name}`);
        });
        offset = result.clockOffsetSeconds;
        return result;
      }),
    (verdict): Checks => [
      offset !== undefined && { what: `${name}: clock`, verdict: 'unknown', detail: clockInWords(offset) },
      verdict === 'good' && contractChecks(name, config, call),
    ],
  );
}

/** Reports a wrong clock. The relay then signs by the service's clock, but each process learns it from a refusal. */
function clockInWords(offset: number): string {
  const differs = `refused the time of this machine, and its clock is ${Math.abs(offset)} s ${offset > 0 ? 'ahead' : 'behind'}`;
  return `the service ${differs}; the relay signs by the service's clock, but set the one that is wrong`;
}

function contractChecks(name: string, config: RelayConfig, call: PartnerClient['call']): Checks {
  const projects = projectsOf(name, config);
  const overrides = config.connections[name]?.operations ?? {};
  const asHere = <O extends Operation>(declared: O) => withOverride(declared, overrides[declared.name]);
  const seen = new Map<string, readonly ServiceRow[]>();
  const rowsIn = (operation: Operation) => seen.get(operation.name) ?? [];
  const all = () => [...seen.values()].flat();
  const about = (operation: Operation, what: string, look: () => Promise<string>, next?: Check['next']) =>
    check(`${name}: ${operation.name}${what}`, () => look().catch(withCorrection(operation)), next);

  function listCheck(declared: ListToCheck): Check {
    const operation = asHere(declared.operation);
    const [detail, id = ''] = DETAILS.get(operation.name) ?? [];
    let list = { ...declared, operation };
    async function readFirst(): Promise<string> {
      const { rows, paging } = await readRows(call, operation, list.payload).catch((error: unknown) => {
        list = { ...list, payload: longerSearch(error, list, all()) };
        return readRows(call, operation, list.payload);
      });
      seen.set(operation.name, rows);
      list = { ...list, paging };
      const longer = list.payload.q === declared.payload.q ? '' : '; takes no search for one letter';
      const pages = paging.size < PAGE_SIZE ? `; takes pages of ${paging.size} rows` : '';
      const base = paging.first === 0 ? '; counts its pages from 0, which the relay follows' : '';
      return compareFields(operation, rows) + pages + base + longer;
    }
    return about(operation, '', readFirst, (verdict) => {
      const rows = rowsIn(operation);
      return verdict === 'bad'
        ? []
        : [
            about(operation, ' page by page', () => comparePages(call, list, rows)),
            detail && about(asHere(detail), '', () => compareDetail(call, asHere(detail), id, rows)),
            list.filters.map((filter) =>
              about(operation, ` by ${filter.name}`, () => compareFilter(call, list, filter, rows)),
            ),
          ];
    });
  }

  const addresses = namedAddresses(name, config);
  const users = async () => compareUsers(rowsIn(listUsers), rowsIn(listTimelogs));
  return [
    projects.length > 0 && projectCheck(name, projects, call),
    listsToCheck(projects[0]?.id).map(listCheck),
    about(asHere(listTimelogs), ' of users', users, () => [
      addresses.size > 0 && check(`${name}: people`, () => compareAddresses(addresses, asHere(listUsers), call)),
      notTried(name, all()),
      statusesOf(name, config),
    ]),
  ];
}

/** The operations that return one record of a list, and the field of its id. */
const DETAILS = new Map<string, [Operation, string]>([
  [searchTasks.name, [taskDetail, 'task_id']],
  [listTimelogs.name, [timelogDetail, 'timelog_id']],
]);

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

function projectCheck(connection: string, named: readonly NamedProject[], call: PartnerClient['call']): Check {
  const found = new Map<string, { name: string; isActive: boolean }>();
  let isWhole = false;
  const nameOf = (id: string) => {
    const project = found.get(id.toLowerCase());
    if (!project && !isWhole) throw new CannotTell(`${id} is not in the projects that can be read: ${fewOf(found)}`);
    if (!project) throw new Error(`the key cannot access the project ${id}; it can access ${fewOf(found)}`);
    if (!project.isActive) throw new CannotTell(`the project ${project.name} is not active`);
    return project.name;
  };
  return check(
    `${connection}: projects`,
    async () => {
      const all = await rowsOf(pages(call, listProjects, {}, PROJECT_PAGES));
      isWhole = all.isWhole;
      for (const { project_id, name, isactive } of all.rows)
        found.set(project_id.toLowerCase(), { name: name ?? project_id, isActive: isactive !== false });
      return `${found.size} projects`;
    },
    (verdict) =>
      verdict === 'bad' ? [] : named.map(({ path, id }) => check(`${connection}: ${path}`, () => nameOf(id))),
  );
}

const SHOWN = 10;

function fewOf(known: ReadonlyMap<string, { name: string }>): string {
  const shown = [...known].slice(0, SHOWN).map(([id, { name }]) => `${id} (${name})`);
  if (known.size === 0) return 'none';
  return `${shown.join(', ')}${known.size > SHOWN ? ` and ${known.size - SHOWN} more` : ''}`;
}

/**
 * The configured addresses of the service's users, with the path of each in relay.config.ts. With several connections,
 * `people` is left out, because it does not say which service a person belongs to.
 */
function namedAddresses(connection: string, { connections, people, timesheets }: RelayConfig): Map<string, string> {
  const isOnly = Object.keys(connections).length === 1;
  const named = [
    ...(isOnly ? people : []).map(({ email }, index) => [email, `people.${index}.email`] as const),
    ...(timesheets?.teams ?? []).flatMap((team, index) => {
      const own = team.connection === connection ? addressesOf(team) : [];
      return own.map(([path, email]) => [email, ['timesheets.teams', index, ...path].join('.')] as const);
    }),
  ];
  return new Map(named.map(([email, path]) => [email.toLowerCase(), path]));
}

async function compareAddresses(
  addresses: ReadonlyMap<string, string>,
  operation: typeof listUsers,
  call: PartnerClient['call'],
): Promise<string> {
  const { rows, isWhole } = await rowsOf(pages(call, operation, {}, USER_PAGES));
  const known = new Set(rows.map(({ email }) => email?.trim().toLowerCase()));
  const missing = [...addresses].filter(([email]) => !known.has(email));
  if (missing.length === 0)
    return addresses.size === 1
      ? 'the address in relay.config.ts is that of a user of the service'
      : `all ${addresses.size} addresses in relay.config.ts are those of users of the service`;
  const none = `has the address of ${missing.map(([email, path]) => `${path} (${email})`).join(', ')}`;
  if (isWhole) throw new Error(`no user of the service ${none}`);
  throw new CannotTell(`none of the users that can be read ${none}, and these may not be all`);
}

/** Ids that people type, but that no known list returns. */
const UNLISTED_IDS = ['item_id', 'scenario_id', 'test_case_id', 'test_step_id'];

const UNDOCUMENTED = {
  documented: '',
  'payload not shown': 'its documentation shows no payload',
  assumed: 'not documented: its path and fields are assumed',
};

/** Doctor changes nothing, so it cannot try operations that create, link or update. */
function notTried(connection: string, rows: readonly ServiceRow[]): Finding[] {
  const changing = [...operations.values()]
    .filter(({ evidence, effect }) => effect === 'unknown' || (evidence !== 'documented' && effect === 'create'))
    .map(({ name, evidence, effect }) => [
      name,
      `${effect === 'unknown' ? 'documented, except what a second call does' : UNDOCUMENTED[evidence]}; not tried, because it changes something; to try it, run: npx partner-relay call ${name} '{…}'`,
    ]);
  const typed = typesIn(rows);
  const types = Object.entries(typed).map(([field, type]) => `${field} is a ${type}`);
  const unlisted = UNLISTED_IDS.filter((field) => !(field in typed));
  const marked = textsIn(rows).filter(markerIn).length;
  const others = [
    [
      'ids that people type',
      `${types.map((type) => `${type}; `).join('')}${unlisted.length > 0 ? `not tried for ${unlisted.join(', ')}, because no list had these ids. ` : ''}If the service refuses an id that a person types, set \`ids\` under \`operations\` in relay.config.ts`,
    ],
    [
      'markers',
      marked > 0
        ? `the service has kept the whole marker, by which the relay finds what it created, in the ${counted(marked, 'text')} that were read; whether it cuts longer texts is not tried, because doctor creates nothing`
        : 'whether a long text comes back whole, with the marker at its end, is not tried, because doctor creates nothing',
    ],
    ['a repeated identical request', 'assumed to take effect once; not tried, because it changes something'],
  ];
  return [...changing, ...others].map(([what, detail = '']) => ({
    what: `${connection}: ${what}`,
    verdict: 'unknown',
    detail,
  }));
}

/** The service's document does not show which statuses a scenario may have, and no operation reads a scenario. */
function statusesOf(of: string, { github }: RelayConfig): Finding[] {
  const detail =
    'not tried, because it changes something: the check of a workflow run on GitHub says whether the service took the values of tests.status';
  const isUsed = github.repositories.some(({ connection, tests }) => tests && connection === of);
  return isUsed ? [{ what: `${of}: test-scenarios/update`, verdict: 'unknown', detail }] : [];
}

/**
 * Adds to the error how to correct it in relay.config.ts. A refused key, a limit or an outage cannot be corrected
 * there.
 */
function withCorrection({ name, path, evidence }: Operation): (error: unknown) => never {
  return (error) => {
    const isOfContract = !(error instanceof PartnerError) || [400, 404, 422].includes(error.status ?? 0);
    if (error instanceof CannotTell || !isOfContract) throw error;
    const correction = {
      documented:
        'the service documents its path and fields, so relay.config.ts corrects neither: ask the people who run the instance',
      'payload not shown': `set the names that its fields have there in relay.config.ts, under operations['${name}'].fields; its path is documented`,
      assumed: `check the path ${path} and the names of its fields in relay.config.ts, under operations['${name}']`,
    }[evidence];
    throw new Error(`${messageOf(error)}; ${correction}`, { cause: error });
  };
}
