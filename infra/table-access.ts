import { jobsByStatus, type Key, keys, waitingLine } from '../lib/table/keys.ts';

type Action = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query';

/** What a function may do with the table. */
export interface TableAccess {
  /** By the kind of the items, as in lib/table/keys.ts. */
  items: Partial<Record<keyof typeof keys, readonly Action[]>>;
  /** The indexes that it queries. */
  indexes?: readonly string[];
}

/**
 * What each function does with the table, and nothing else: its role is limited to the partition keys of these items.
 * lib/table/keys.ts says which module reads and writes what. `npm run test:aws` fails where a right is missing.
 */
const access: Readonly<Record<string, TableAccess>> = {
  'github-webhook': {
    items: {
      job: ['GetItem', 'PutItem', 'UpdateItem'],
      link: ['GetItem', 'PutItem'],
      linkName: ['PutItem'],
      hook: ['UpdateItem'],
      turns: ['GetItem', 'PutItem'],
    },
  },
  'slack-webhook': {
    items: {
      job: ['GetItem', 'PutItem', 'UpdateItem'],
      jobOfPerson: ['PutItem', 'Query'],
      said: ['GetItem', 'PutItem'],
      mute: ['PutItem'],
      projects: ['GetItem'],
      budget: ['GetItem'],
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
      oauthClient: ['GetItem', 'PutItem', 'DeleteItem'],
      budget: ['GetItem', 'PutItem'],
    },
  },
  'job-worker': {
    items: {
      // A query reads a job's journal, which is in the job's partition.
      job: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'],
      link: ['GetItem', 'PutItem'],
      linkName: ['PutItem'],
      budget: ['GetItem', 'PutItem'],
      breaker: ['GetItem', 'PutItem', 'DeleteItem', 'Query'],
      reading: ['GetItem', 'PutItem', 'UpdateItem'],
      strangers: ['GetItem', 'UpdateItem'],
      person: ['GetItem', 'PutItem'],
      users: ['GetItem', 'PutItem'],
      slackUser: ['GetItem', 'PutItem'],
      projects: ['GetItem', 'PutItem'],
      recentTasks: ['GetItem', 'PutItem'],
      taskName: ['GetItem', 'PutItem'],
      firstTimeEntry: ['GetItem', 'PutItem'],
      mute: ['GetItem'],
      grant: ['GetItem', 'UpdateItem'],
    },
    indexes: [waitingLine.name],
  },
  'job-sweep': {
    items: { job: ['GetItem', 'UpdateItem'], budget: ['GetItem', 'PutItem'], breaker: ['GetItem', 'Query'] },
    indexes: [jobsByStatus.name, waitingLine.name],
  },
  'credential-check': {
    items: { budget: ['GetItem', 'PutItem'], breaker: ['GetItem', 'PutItem', 'DeleteItem', 'Query'] },
  },
  'github-redelivery': {
    items: { hook: ['Query', 'UpdateItem'], failedDelivery: ['UpdateItem'] },
  },
  'timesheet-reminder': {
    items: { job: ['GetItem', 'PutItem', 'UpdateItem'] },
  },
};

/** @throws {Error} for a function that is not listed */
export function tableAccessOf(slug: string): TableAccess {
  const found = access[slug];
  if (!found) throw new Error(`infra/table-access.ts does not say what ${slug} may do with the table`);
  return found;
}

/** Actions, and patterns of the partition keys for which they are allowed. */
export interface TableGrant {
  actions: readonly string[];
  partitionKeys: readonly string[];
}

/** The grants of the items: one for each set of actions. */
export function itemGrants({ items }: TableAccess): TableGrant[] {
  const byActions = Map.groupBy(Object.entries(items) as [keyof typeof keys, readonly Action[]][], ([, actions]) =>
    actions.join(),
  );
  return [...byActions.values()].map((same) => ({
    actions: same[0]?.[1].map((action) => `dynamodb:${action}`) ?? [],
    partitionKeys: [...new Set(same.map(([kind]) => partitionPattern(kind)))],
  }));
}

/** The partition key of every item of a kind, with `*` in place of what differs: `link#*`. */
function partitionPattern(kind: keyof typeof keys): string {
  const make: (...parts: string[]) => Key = keys[kind];
  // More parts than any kind has.
  return make(...Array<string>(8).fill('*')).pk;
}
