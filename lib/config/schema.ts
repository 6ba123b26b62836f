import * as z from 'zod';
import { durationFields, durationUnits } from '../partner/field-names.ts';
import { operationPath, uuid } from '../partner/operation.ts';
import { operations } from '../partner/operations.ts';
import { deployment } from './deployment.ts';
import { slug as name, slackChannel, timeZone } from './names.ts';
import { timesheetsConfig } from './timesheets.ts';

const repositoryName = z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'expected owner/name');

const fieldName = z.string().min(1);

/** What the instance calls a field: `'spent'`, or with the unit in which it counts, `{ name: 'spent', unit: 'minutes' }`. */
const theirField = z.union(
  [fieldName, z.strictObject({ name: fieldName, unit: z.enum(durationUnits) })],
  `expected a name, or a name and a unit such as { name: 'minutes', unit: 'minutes' }; units are ${durationUnits.join(', ')}`,
);

/** Correction of an operation whose path or fields the interface document does not show. */
const operationOverride = z.strictObject({
  path: z.string().regex(operationPath, 'expected names joined by slashes, such as defects/create').optional(),
  fields: z.record(z.string(), theirField).optional(),
});

const operationOverrides = z.record(z.string(), operationOverride).superRefine((overrides, context) => {
  for (const [operation, override] of Object.entries(overrides)) {
    const fault = overrideFault(operation, override);
    if (fault) context.addIssue({ code: 'custom', path: [operation], message: fault });
  }
});

function overrideFault(name: string, override: z.output<typeof operationOverride>): string | undefined {
  const declared = operations.get(name);
  if (!declared) return `no such operation; known are ${[...operations.keys()].join(', ')}`;
  if (declared.evidence === 'documented') return 'the interface document shows this operation; it cannot be overridden';
  if (declared.evidence === 'payload not shown' && override.path)
    return 'its path is documented; only fields can differ';
  const names = Object.entries(override.fields ?? {});
  const [field] = names.find(([our, their]) => typeof their === 'object' && !durationFields.includes(our)) ?? [];
  if (field !== undefined) return `fields.${field} is no duration; only ${durationFields.join(' and ')} have a unit`;
  return undefined;
}

const callLimits = z.strictObject({
  perMinute: z.int().min(1).default(120),
  perDay: z.int().min(1).default(5000),
});

/** One instance of the service with one API key. Its base URL and keys are in the secret of the same name. */
const connection = z.strictObject({
  /** What the key may send (interface document, Limits). */
  limits: callLimits.prefault({}),
  /**
   * What the MCP endpoint takes from the address that the relay calls from (interface document, Limits). Set less where
   * other clients call from the same address: the service counts them together.
   */
  mcp: z
    .strictObject({
      limits: callLimits.prefault({}),
      link: z
        .enum(['off', 'offered', 'required'])
        .default('off')
        .meta({
          description:
            'Whether people link their accounts with `/pm link`, so that what they ask for is done in their own name. ' +
            'With `required`, a person without a linked account can change nothing from Slack. It needs `slack`.',
          examples: ['offered'],
        }),
    })
    .prefault({}),
  /** The part of the day's calls that people from outside of a repository may cause there. */
  strangersShare: z.number().min(0).max(1).default(0.1),
  operations: operationOverrides.default({}),
});

/** A field of the defect, chosen by the issue's labels: the first entry whose label the issue has, or the default. */
const byLabel = z.strictObject({
  default: z.string().min(1).optional(),
  labels: z.record(z.string().min(1), z.string().min(1)).default({}),
});

const defectFields = z.strictObject({
  type: z.string().min(1).optional(),
  priority: z.string().min(1).optional(),
  severity: z.string().min(1).optional(),
});

const issueToDefect = z.strictObject({
  /** An issue with any of these labels becomes a defect. Letter case does not matter, as on GitHub. */
  labels: z.array(z.string().min(1)).min(1).default(['bug']),
  /** The project that the defects belong to. */
  projectId: uuid,
  type: byLabel.prefault({}),
  priority: byLabel.prefault({}),
  severity: byLabel.prefault({}),
  /**
   * What closing and reopening the issue do to the defect, whose status `defects/update` cannot change:
   * `describe` says the state in the description, `leave` leaves it out, `set` says it and sets these fields for as
   * long as the issue is closed.
   */
  whenClosed: z
    .union([z.literal('describe'), z.literal('leave'), z.strictObject({ set: defectFields })])
    .default('describe'),
  /**
   * Longer descriptions are cut, with a note; the service's own maximum is not shown. A signed request is an item of
   * the table, which holds 400 KB: at worst, JSON makes six bytes of one, and Base64 eight of those.
   */
  maxDescriptionBytes: z.int().min(1_000).max(48_000).default(32_768),
  /**
   * For so long after an update of a defect, further changes of its issue are kept back, and then sent as one update. The
   * first after the creation is sent at once.
   */
  foldSeconds: z.int().min(0).max(3_600).default(120),
  /** Whether a comment with the defect's id goes back to the issue. */
  comment: z.boolean().default(true),
});

const repository = z.strictObject({
  name: repositoryName,
  connection: name,
  issueToDefect: issueToDefect.optional(),
  /** `/done 12` and `/undo 12` in comments of collaborators, and their merged pull requests that complete checklist items. */
  completeChecklistItem: z.boolean().default(false),
  /** `/log 2h <task>` in comments of collaborators. */
  logTime: z.boolean().default(false),
});

const github = z.strictObject({
  /** Of a GitHub Enterprise Server: `https://github.example.com/api/v3`. */
  apiUrl: z.url().default('https://api.github.com'),
  repositories: z.array(repository).default([]),
});

const slackUser = z.string().regex(/^[UW][A-Z0-9]+$/, 'expected the id of a person, such as U0123ABCD');
const slackGroup = z.string().regex(/^S[A-Z0-9]+$/, 'expected the id of a user group, such as S0123ABCD');

/** What a list in the modal offers; the allowed values of the service are not shown. At most what Slack's lists hold. */
const offered = (...byDefault: string[]) => z.array(z.string().min(1).max(75)).min(1).max(100).default(byDefault);

/** Who may use a subcommand, and where; whoever is left out may. */
const permission = z.strictObject({
  channels: z.array(slackChannel).min(1).optional(),
  userGroups: z.array(slackGroup).min(1).optional(),
});

const slack = z.strictObject({
  /** Of GovSlack: `https://slack-gov.com/api`. */
  apiUrl: z.url().default('https://slack.com/api'),
  /** The slash command; one of a name of its own for a second stage in the same workspace. */
  command: z
    .string()
    .regex(/^\/[a-z0-9_-]{1,31}$/, 'expected a slash and up to 31 lowercase characters')
    .default('/pm'),
  /** Where commands go, unless their channel says otherwise. */
  connection: name,
  /** A channel's connection, and the project in which `/pm defect <title>` creates a defect without asking. */
  channels: z
    .record(slackChannel, z.strictObject({ connection: name.optional(), projectId: uuid.optional() }))
    .default({}),
  /** What the modal for a defect offers; the first of each is chosen. */
  defect: z
    .strictObject({
      types: offered('Bug', 'Documentation'),
      priorities: offered('Medium', 'High', 'Low'),
      severities: offered('Major', 'Critical', 'Minor'),
    })
    .prefault({}),
  /** Who may use the relay at all. */
  access: z
    .strictObject({
      /** Guests of the workspace, single-channel and multi-channel. */
      guests: z.boolean().default(false),
      /** People of other workspaces, in channels that are shared with them. */
      strangers: z.boolean().default(false),
      /** Only people whom the service knows, by their address or by people. */
      knownOnly: z.boolean().default(false),
    })
    .prefault({}),
  permissions: z
    .strictObject({ defect: permission, done: permission, log: permission, find: permission })
    .partial()
    .default({}),
});

/** Somebody whom e-mail addresses alone do not bring together. */
const person = z.strictObject({
  slack: slackUser.optional(),
  /** The login; letter case does not matter. */
  github: z
    .string()
    .regex(/^[\w-]+$/, 'expected a login')
    .optional(),
  /** The address of the user in the service. */
  email: z.email(),
  /** For dates such as "yesterday" in GitHub comments; Slack knows that of its people. */
  timeZone: timeZone.default('UTC'),
});

const schema = z
  .strictObject({
    connections: z
      .record(name, connection)
      .refine((connections) => Object.keys(connections).length > 0, 'expected at least one connection'),
    github: github.prefault({}),
    /** Without it no function for Slack is deployed. */
    slack: slack.optional(),
    /** Who is reminded of time that is not logged. It needs slack. */
    timesheets: timesheetsConfig.optional(),
    /** Who is who, where the address in Slack is not that in the service, and for GitHub, which shows none. */
    people: z.array(person).default([]),
    /** Whom people are told to ask where the relay itself must be mended: `the platform team`. */
    contact: z.string().min(1).max(200).default('whoever looks after Partner Relay'),
    /**
     * A PEM file with certificates of authorities that the relay trusts besides the public ones when it calls the service;
     * relative to the project's folder.
     */
    caFile: z.string().min(1).optional(),
    deployment: deployment.prefault({}),
  })
  .superRefine((config, context) => {
    const { maxConcurrency, reservedConcurrency } = config.deployment;
    const workers = maxConcurrency.interactive + maxConcurrency.background;
    if (reservedConcurrency.worker !== undefined && reservedConcurrency.worker < workers) {
      context.addIssue({
        code: 'custom',
        path: ['deployment', 'reservedConcurrency', 'worker'],
        message: `expected at least ${workers}, the sum of deployment.maxConcurrency, or SQS would be throttled`,
      });
    }
    const known = Object.keys(config.connections).join(', ');
    const named = [
      ...config.github.repositories.map(
        ({ connection }, index) => [['github', 'repositories', index, 'connection'], connection] as const,
      ),
      ...(config.slack ? [[['slack', 'connection'], config.slack.connection] as const] : []),
      ...(config.timesheets?.teams ?? []).map(
        ({ connection }, index) => [['timesheets', 'teams', index, 'connection'], connection] as const,
      ),
      ...Object.entries(config.slack?.channels ?? {}).map(
        ([channel, { connection }]) => [['slack', 'channels', channel, 'connection'], connection] as const,
      ),
    ];
    for (const [path, connection] of named) {
      if (connection === undefined || connection in config.connections) continue;
      context.addIssue({
        code: 'custom',
        path: [...path],
        message: `no connection '${connection}'; there are ${known}`,
      });
    }
    if (config.timesheets && !config.slack) {
      context.addIssue({
        code: 'custom',
        path: ['timesheets'],
        message: 'people are reminded in Slack: slack is missing',
      });
    }
    for (const [connection, { mcp }] of Object.entries(config.connections)) {
      if (mcp.link === 'off' || config.slack) continue;
      const path = ['connections', connection, 'mcp', 'link'];
      context.addIssue({ code: 'custom', path, message: 'people link their accounts in Slack: slack is missing' });
    }
    for (const platform of ['slack', 'github'] as const) {
      const ids = config.people.map((person) => person[platform]?.toLowerCase());
      for (const [index, id] of ids.entries()) {
        if (id === undefined || ids.indexOf(id) === index) continue;
        const message = `'${id}' stands at people.${ids.indexOf(id)} already`;
        context.addIssue({ code: 'custom', path: ['people', index, platform], message });
      }
    }
    const seen = new Map<string, number>();
    for (const [index, { name }] of config.github.repositories.entries()) {
      const path = ['github', 'repositories', index];
      const earlier = seen.get(name.toLowerCase());
      if (earlier !== undefined) {
        context.addIssue({
          code: 'custom',
          path: [...path, 'name'],
          message: `'${name}' stands at github.repositories.${earlier} already`,
        });
      }
      seen.set(name.toLowerCase(), index);
    }
  });

/** The configuration as written in `relay.config.ts`. */
export type RelayConfigInput = z.input<typeof schema>;
/** The configuration with its defaults filled in. */
export type RelayConfig = z.output<typeof schema>;
export type RepositoryConfig = RelayConfig['github']['repositories'][number];
export type SlackConfig = NonNullable<RelayConfig['slack']>;
export type IssueToDefectConfig = NonNullable<RepositoryConfig['issueToDefect']>;

/** A configuration that cannot be used; `faults` has one line for each, led by its path. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `relay.config.ts has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
    );
    this.faults = faults;
  }
}

/**
 * Checks a configuration and fills in its defaults. Because `relay.config.ts` exports what this returns, a wrong
 * configuration stops whatever loads it: the local start, the deployment, the command line.
 *
 * @throws {ConfigError} with every fault
 */
export function defineConfig(input: RelayConfigInput): RelayConfig {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.') || '(whole)'}: ${issue.message}`));
}
