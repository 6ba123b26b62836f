import { jobsByStatus, type Key, keys, waitingLine } from '../lib/state/table/keys.ts';

type Action = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query';

/** A function's rights on the table. */
export interface TableAccess {
  /** Rights by kind of item, as in lib/state/table/keys.ts. */
  items: Partial<Record<keyof typeof keys, readonly Action[]>>;
  /** The indexes that the function queries. */
  indexes?: readonly string[];
  /** Whether the function reads when the table was created. */
  describes?: true;
}

/** The items that the console shows, besides jobs. */
const shownInConsole = {
  made: ['GetItem'],
  link: ['GetItem'],
  linkName: ['GetItem'],
  budget: ['GetItem'],
  breaker: ['GetItem'],
  knownTasks: ['GetItem'],
  knownPeople: ['GetItem'],
  scheduleRun: ['Query'],
} as const satisfies TableAccess['items'];

/**
 * All rights of each function on the table. Its role is limited to the partition keys of these items.
 * lib/state/table/keys.ts says which module reads and writes each item. `npm run test:aws` fails if a right is missing.
 */
const access: Readonly<Record<string, TableAccess>> = {
  'github-webhook': {
    items: {
      job: ['GetItem', 'PutItem', 'UpdateItem'],
      link: ['GetItem', 'PutItem'],
      linkName: ['PutItem'],
      hook: ['UpdateItem'],
      repository: ['GetItem', 'PutItem', 'Query'],
      turns: ['GetItem', 'PutItem'],
      customEvent: ['GetItem', 'PutItem'],
    },
  },
  'hooks-webhook': {
    items: { job: ['GetItem', 'PutItem', 'UpdateItem'], customEvent: ['GetItem', 'PutItem'] },
  },
  'slack-webhook': {
    items: {
      job: ['GetItem', 'PutItem', 'UpdateItem'],
      mute: ['PutItem'],
      awayUntil: ['PutItem', 'DeleteItem'],
      projects: ['GetItem'],
      knownTasks: ['GetItem'],
      budget: ['GetItem'],
      breaker: ['GetItem'],
      turns: ['GetItem', 'PutItem'],
      slackWorkspace: ['GetItem', 'PutItem'],
      slackStanding: ['GetItem', 'PutItem'],
      userGroup: ['GetItem', 'PutItem'],
      person: ['GetItem'],
      accountLink: ['PutItem', 'UpdateItem', 'DeleteItem'],
      grant: ['GetItem', 'PutItem', 'DeleteItem'],
    },
  },
  'account-link': {
    items: {
      accountLink: ['GetItem', 'UpdateItem'],
      linkShare: ['GetItem', 'UpdateItem'],
      budget: ['GetItem', 'PutItem'],
    },
  },
  'job-worker': {
    items: {
      // A job's journal is read with a query, because it is in the job's partition.
      job: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
      link: ['GetItem', 'PutItem'],
      linkName: ['GetItem', 'PutItem'],
      relation: ['GetItem', 'PutItem', 'DeleteItem'],
      made: ['GetItem', 'PutItem'],
      budget: ['GetItem', 'PutItem'],
      breaker: ['GetItem', 'PutItem'],
      learned: ['GetItem', 'PutItem'],
      reading: ['GetItem', 'PutItem', 'UpdateItem'],
      tableBegan: ['GetItem', 'PutItem'],
      strangers: ['GetItem', 'UpdateItem'],
      person: ['GetItem', 'PutItem'],
      users: ['GetItem', 'PutItem'],
      slackUser: ['GetItem', 'PutItem'],
      projects: ['GetItem', 'PutItem'],
      knownTasks: ['GetItem', 'PutItem'],
      knownPeople: ['GetItem', 'PutItem'],
      timesheet: ['GetItem', 'PutItem'],
      taskName: ['GetItem', 'PutItem'],
      checkedTask: ['GetItem', 'PutItem'],
      firstTimeEntry: ['GetItem', 'PutItem'],
      mute: ['GetItem'],
      awayUntil: ['GetItem'],
      awayOn: ['PutItem', 'Query'],
      grant: ['GetItem', 'UpdateItem'],
      newest: ['GetItem', 'PutItem'],
      scenarioResults: ['GetItem', 'PutItem'],
      failingCases: ['GetItem', 'PutItem'],
    },
    indexes: [waitingLine.name],
    describes: true,
  },
  'job-sweep': {
    items: {
      job: ['GetItem', 'UpdateItem'],
      budget: ['GetItem', 'PutItem'],
      breaker: ['GetItem', 'PutItem'],
      parkedNotice: ['GetItem', 'PutItem', 'DeleteItem'],
      repository: ['Query'],
      knownTasks: ['GetItem'],
      knownPeople: ['GetItem'],
      troubles: ['GetItem', 'PutItem'],
      scheduleRun: ['PutItem'],
    },
    indexes: [jobsByStatus.name, waitingLine.name],
  },
  'credential-check': {
    items: { budget: ['GetItem', 'PutItem'], troubles: ['GetItem', 'PutItem'], scheduleRun: ['PutItem'] },
  },
  'github-redelivery': {
    items: { hook: ['Query', 'UpdateItem'], failedDelivery: ['UpdateItem'], scheduleRun: ['PutItem'] },
  },
  'due-schedules': {
    items: {
      job: ['GetItem', 'PutItem', 'UpdateItem'],
      customSchedules: ['GetItem', 'PutItem', 'UpdateItem'],
      scheduleRun: ['PutItem'],
    },
  },
  // For people, not for functions: infra/console-policies.ts.
  'console-read': {
    items: { ...shownInConsole, job: ['GetItem', 'Query'] },
    indexes: [jobsByStatus.name, waitingLine.name],
  },
  'console-operate': {
    // A decision about a creation is written to the journal, in the job's partition.
    items: {
      ...shownInConsole,
      job: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      link: ['GetItem', 'PutItem'],
      linkName: ['GetItem', 'PutItem'],
      breaker: ['GetItem', 'PutItem'],
      hook: ['Query'],
      // The check whether an object exists calls the service within the budget.
      budget: ['GetItem', 'PutItem'],
    },
    indexes: [jobsByStatus.name, waitingLine.name],
  },
};

/** Items that exist only if the configuration has linked accounts. */
const OF_LINKED_ACCOUNTS: ReadonlySet<string> = new Set<keyof typeof keys>(['grant', 'accountLink']);

/**
 * Returns the rights of a function.
 *
 * @param linkedAccounts whether the configuration has them; otherwise, no function gets rights on their items
 * @throws {Error} if the function is not listed
 */
export function tableAccessOf(slug: string, linkedAccounts: boolean): TableAccess {
  const listed = access[slug];
  if (!listed) throw new Error(`infra/table-access.ts has no entry for ${slug}: list its rights on the table there`);
  // Each function reads the table's time. For people, the time comes with what they read.
  const ofFunction: TableAccess['items'] = slug.startsWith('console-') ? {} : { time: ['GetItem'] };
  const found: TableAccess = { ...listed, items: { ...listed.items, ...ofFunction } };
  if (linkedAccounts) return found;
  const items = Object.entries(found.items).filter(([kind]) => !OF_LINKED_ACCOUNTS.has(kind));
  return { ...found, items: Object.fromEntries(items) };
}

/** Actions, and patterns of the partition keys that they are allowed for. */
export interface TableGrant {
  actions: readonly string[];
  partitionKeys: readonly string[];
}

/** The grants for the items: one for each set of actions. */
export function itemGrants({ items }: TableAccess): TableGrant[] {
  const byActions = Map.groupBy(Object.entries(items) as [keyof typeof keys, readonly Action[]][], ([, actions]) =>
    actions.join(),
  );
  return [...byActions.values()].map((same) => ({
    actions: same[0]?.[1].map((action) => `dynamodb:${action}`) ?? [],
    partitionKeys: [...new Set(same.map(([kind]) => partitionPattern(kind)))],
  }));
}

/** The pattern of a kind's partition keys, with `*` for the variable parts: `link#*`. */
function partitionPattern(kind: keyof typeof keys): string {
  const make: (...parts: string[]) => Key = keys[kind];
  // More parts than any kind's key has.
  return make(...Array<string>(8).fill('*')).pk;
}
