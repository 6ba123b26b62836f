import * as z from 'zod';
import { type Fault, faultLine, meantName, readInput, unknownName } from '../faults/fault.ts';
import { durationFields, durationUnits } from '../service/partner/field-names.ts';
import { idTypes, operationPath, uuid } from '../service/partner/operation.ts';
import { operations } from '../service/partner/operations/operations.ts';
import { counted } from '../text.ts';
import { deployment } from './deployment.ts';
import { listOfSome, offByDefault, setting, textLike, wholeNumber } from './kinds.ts';
import { callLimits, mcpConfig } from './mcp.ts';
import { exactText, type NamedSetting, slug as name, refuseRepeated, slackChannel, timeZone } from './names.ts';
import { testsConfig } from './tests.ts';
import { timesheetsConfig } from './timesheets.ts';

/** Such as `acme/web`. */
export const repositoryName = textLike(/^[\w.-]+\/[\w.-]+$/, 'expected owner/name');

const fieldName = z.string().min(1);

/** The instance's name for a field: `'spent'`, or `{ name: 'spent', unit: 'minutes' }` to set its unit. */
const theirField = z.union(
  [fieldName, z.strictObject({ name: fieldName, unit: z.enum(durationUnits) })],
  `expected a name, or a name and a unit such as { name: 'minutes', unit: 'minutes' }; units are ${durationUnits.join(', ')}`,
);

/** Corrects or completes what docs/partner-api.md says about an operation. */
const operationOverride = z.strictObject({
  path: textLike(operationPath, 'expected names joined by slashes, such as defects/create').optional(),
  fields: z.record(z.string(), theirField).optional(),
  ids: z.record(textLike(/_id$/, 'expected the name of an id, such as item_id'), z.enum(idTypes)).optional(),
  paged: z.boolean().optional(),
});

const operationOverrides = z.record(z.string(), operationOverride).superRefine((overrides, context) => {
  for (const [operation, override] of Object.entries(overrides)) {
    const fault = overrideFault(operation, override);
    if (fault) context.addIssue({ code: 'custom', path: [operation], message: fault });
  }
});

function overrideFault(name: string, override: z.output<typeof operationOverride>): string | undefined {
  const declared = operations.get(name);
  if (!declared) return `there is no such operation; ${meantName(name, [...operations.keys()])}`;
  if (declared.evidence === 'documented' && (override.path ?? override.fields))
    return 'the service documents its path and fields; only ids and paged can differ';
  if (override.paged !== undefined && !declared.pageSize) return 'it is not a list, so it is never paged';
  if (declared.evidence === 'payload not shown' && override.path)
    return 'its path is documented; only fields can differ';
  const names = Object.entries(override.fields ?? {});
  const [field] = names.find(([our, their]) => typeof their === 'object' && !durationFields.includes(our)) ?? [];
  if (field !== undefined) return `fields.${field} is not a duration; only ${durationFields.join(' and ')} have a unit`;
  return undefined;
}

/**
 * The address of a page, with a placeholder for the id. People sign in there, so it must use https, or be on this
 * machine.
 */
const pageAddress = textLike(
  /^(?:https:\/\/[\w.-]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d+)?\/[^\s{}<>|\\]*\{id\}[^\s{}<>|\\]*$/,
  'expected an https address with {id}, such as https://pm.example.com/defects/{id}',
).exactOptional();

/** Refuses secrets in this file, and says where they belong. */
const refusingSecrets = (
  secret: string,
): { error: z.core.$ZodErrorMap<z.core.$ZodIssueUnrecognizedKeys | z.core.$ZodIssueInvalidType> } => ({
  error: (issue) =>
    issue.code === 'unrecognized_keys' &&
    issue.keys.every((key) => /^base_?url$|(key|token|secret|password)$/i.test(key))
      ? `this is a secret, not a setting: create a new key, because this one may have been read here, and enter it with npx partner-relay secrets set ${secret}`
      : undefined,
});

const connection = z.strictObject(
  {
    limits: setting(
      callLimits,
      'What the relay may use of the limits of the key. Lower them if something else uses the same key.',
    ),
    mcp: mcpConfig,
    strangersShare: setting(
      z.number().min(0).max(1).default(0.1),
      "The share of the day's calls that strangers, who cannot triage issues, may cause. Beyond it, their events wait for the next day.",
      0.05,
    ),
    web: setting(
      z
        .strictObject({ defects: pageAddress, tasks: pageAddress, testCases: pageAddress, testSteps: pageAddress })
        .optional(),
      "The addresses of the service's pages for things, with `{id}` in place of their id: https, or http on this " +
        'machine. Comments, Slack messages and the console then link to them.',
      { defects: 'https://pm.example.com/defects/{id}', tasks: 'https://pm.example.com/tasks/{id}' },
    ),
    operations: setting(
      operationOverrides.default({}),
      'Corrections of operations whose path or fields the service does not document, by the name of the operation. ' +
        '`path` is the path below `/api/v1/partner`. `fields` maps the field names of the relay to those of the ' +
        'instance, for payloads and results. The relay counts durations in hours; name the unit if the instance counts ' +
        'minutes or seconds. `ids` says which ids are numbers and which are text, where people type digits; by default the ' +
        'relay learns it from the lists of the service. `paged: false` says that the service returns a list in one answer, ' +
        'whatever page is asked for. `ids` and `paged` may be set for documented operations, too.',
      {
        'users/list': { path: 'people/all', fields: { user_id: 'id', email: 'mail' } },
        'timelogs/create': { fields: { hours: { name: 'spent', unit: 'minutes' } } },
        'work-items/checklist/items/complete': { ids: { item_id: 'text' } },
        'defects/list': { paged: false },
      },
    ),
  },
  refusingSecrets('partner/<connection>'),
);

/** A field of the defect, chosen by the issue's labels and type. */
const byLabel = z.strictObject(
  {
    default: exactText.optional(),
    labels: z.record(exactText, exactText).default({}),
    types: z.record(exactText, exactText).default({}),
  },
  {
    error: ({ input }) =>
      typeof input === 'string' ? `expected an object such as { default: '${input}' }` : undefined,
  },
);

const defectFields = z.strictObject({
  type: exactText.optional(),
  priority: exactText.optional(),
  severity: exactText.optional(),
});

const issueToDefect = z.strictObject({
  labels: setting(
    listOfSome(exactText).default(['bug']),
    'An issue with any of these labels becomes a defect. Letter case does not matter, as on GitHub.',
    ['bug', 'regression'],
  ),
  projectId: setting(
    uuid,
    'The project of the service that the defects belong to.',
    '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
  ),
  type: setting(
    byLabel.prefault({}),
    'The type of the defect: the first entry of `labels` whose label the issue has, otherwise the entry of `types` for ' +
      "GitHub's type of the issue, otherwise `default`. Without any, the field is not sent.",
    { default: 'Bug', labels: { documentation: 'Documentation' }, types: { Regression: 'Regression' } },
  ),
  priority: setting(byLabel.prefault({}), 'The priority of the defect, chosen like `type`.', {
    default: 'Medium',
    labels: { urgent: 'High' },
  }),
  severity: setting(byLabel.prefault({}), 'The severity of the defect, chosen like `type`.', {
    default: 'Major',
    labels: { crash: 'Critical', typo: 'Minor' },
  }),
  whenClosed: setting(
    z.union([z.literal('describe'), z.literal('leave'), z.strictObject({ set: defectFields })]).default('describe'),
    'What happens to the defect when the issue is closed or reopened. No known operation changes its status. `describe` ' +
      'writes the state into the description. `leave` does nothing. `set` writes it into the description, and sets ' +
      'these fields for as long as the issue is closed.',
    { set: { priority: 'Low' } },
  ),
  // A signed request is stored in one table item, which holds 400 KB. In the worst case, JSON turns one byte into six,
  // and Base64 turns those into eight.
  maxDescriptionBytes: setting(
    wholeNumber(1_000, 48_000).default(32_768),
    "Longer descriptions are cut, with a note that says so. The service's own maximum is not known.",
    10_000,
  ),
  foldSeconds: setting(
    wholeNumber(0, 3_600).default(120),
    'After an update of a defect, the relay collects further changes of the issue for this long, and then sends ' +
      'them as one update. The first update after the creation is sent at once.',
    300,
  ),
  comment: setting(
    z.boolean().default(true),
    'Whether the relay comments on the issue with the id of its defect.',
    false,
  ),
});

const checkPullRequest = z.strictObject({
  name: setting(
    z.string().min(1).max(100).default('Tracked work'),
    'The name of the check, by which a branch requires it.',
    'Tracked',
  ),
  exemptLabels: setting(
    z.array(exactText).default([]),
    'A pull request with any of these labels is not checked. Letter case does not matter.',
    ['no task', 'dependencies'],
  ),
});

const repository = z.strictObject({
  name: setting(repositoryName, 'Its name on GitHub, as `owner/name`.', 'acme/web'),
  ownerId: setting(
    z.int().positive().optional(),
    'The id of its owner on GitHub. Events of another owner are ignored. Without it, the owner is that of the first event.',
    583_231,
  ),
  connection: setting(name, 'The connection that its events go to.', 'main'),
  issueToDefect: setting(issueToDefect.optional(), 'Turns issues into defects. Without it, issues are ignored.'),
  issueToTask: setting(
    z
      .strictObject({
        labels: listOfSome(exactText).default(['task']),
        projectId: uuid,
      })
      .optional(),
    'Turns an issue with one of the labels into a task of the project, once: the task does not follow the issue. The ' +
      'fields of `tasks/create` are not shown by the service, so the relay assumes `project_id`, `name` and ' +
      '`description`, which `operations` can correct.',
    { labels: ['task'], projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' },
  ),
  completeChecklistItem: setting(
    z.union([z.boolean(), z.strictObject({ branches: listOfSome(exactText.max(255)) })]).default(false),
    'Whether collaborators complete and reopen checklist items: by `/done 12` and `/undo 12` in comments, and by ' +
      'merging pull requests that name them. A merge counts if it is into the default branch. `branches` names others ' +
      'that count, too.',
    true,
    { branches: ['release'] },
  ),
  relate: offByDefault(
    'Whether lines such as `Task: 12`, `Test case: 8` and `Test step: 15` by collaborators link the defect of an issue: ' +
      'in the issue, and in a pull request that closes it.',
  ),
  logTime: offByDefault('Whether collaborators log time by `/log 2h <task>` in comments.'),
  checkPullRequest: setting(
    checkPullRequest.optional(),
    'Checks whether each pull request is tracked: it closes an issue that has a defect, or names a task that exists. ' +
      'It needs a GitHub App. Without this setting, no check is made.',
  ),
  tests: setting(testsConfig.optional(), 'Takes test results to the service. Without it, workflow runs are ignored.'),
});

const github = z.strictObject(
  {
    apiUrl: setting(
      z.url().default('https://api.github.com'),
      'The REST API. Set it for GitHub Enterprise Server.',
      'https://github.example.com/api/v3',
    ),
    repositories: setting(
      z.array(repository).default([]),
      'The repositories whose events the relay handles. It ignores events of other repositories. If a repository or the login of its owner is renamed, the relay follows it; change the name here, too. If a repository goes to another owner, or another owner takes its name, its events are ignored, unless `ownerId` is that owner.',
    ),
  },
  refusingSecrets('github'),
);

const slackUser = textLike(/^[UW][A-Z0-9]+$/, 'expected the id of a person, such as U0123ABCD');
const slackGroup = textLike(/^S[A-Z0-9]+$/, 'expected the id of a user group, such as S0123ABCD');

/** The options of a list in the modal, within Slack's limits. */
const offered = (...byDefault: string[]) => listOfSome(exactText.max(75)).max(100).default(byDefault);

/** The permissions of the built-in commands. Custom commands may have others. */
export const ourPermissions = ['defect', 'task', 'done', 'log', 'find'] as const;
export type OurPermission = (typeof ourPermissions)[number];

const permission = z.strictObject({
  channels: listOfSome(slackChannel).optional(),
  userGroups: listOfSome(slackGroup).optional(),
});

/** True if Node knows the weekday names of a language. */
const isLanguage = (code: string) =>
  /^[a-z]{2,3}$/.test(code) && Intl.DateTimeFormat.supportedLocalesOf(code).length > 0;

const slack = z.strictObject(
  {
    apiUrl: setting(
      z.url().default('https://slack.com/api'),
      'The Web API. Set it for GovSlack.',
      'https://slack-gov.com/api',
    ),
    command: setting(
      textLike(/^\/[a-z0-9_-]{1,31}$/, 'expected a slash and up to 31 lowercase characters').default('/pm'),
      'The slash command. A second stage in the same workspace needs another one.',
      '/pm-test',
    ),
    languages: setting(
      z.array(z.string().refine(isLanguage, 'expected the code of a language, such as de')).default(['en']),
      'The languages that the team writes in. If what a person logs begins or ends with the name of a day in one of ' +
        'them, or in English, German, French or Spanish, the relay asks which date they mean, in Slack and on GitHub. ' +
        'Short names, such as Mo, count only in English and in these languages.',
      ['en', 'de'],
    ),
    connection: setting(name, 'The connection for commands, unless their channel has its own.', 'main'),
    channels: setting(
      z.record(slackChannel, z.strictObject({ connection: name.optional(), projectId: uuid.optional() })).default({}),
      'For each channel, by its id: its connection, and the project in which `/pm defect <title>` creates a defect ' +
        'without opening the form.',
      { C0123ABCD: { connection: 'main', projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' } },
    ),
    defect: setting(
      z
        .strictObject({
          types: setting(offered('Bug', 'Documentation'), 'The types of a defect.', ['Bug']),
          priorities: setting(offered('Medium', 'High', 'Low'), 'The priorities of a defect.', ['Normal', 'Urgent']),
          severities: setting(offered('Major', 'Critical', 'Minor'), 'The severities of a defect.', ['Major', 'Minor']),
        })
        .prefault({}),
      'What the form for a defect offers. The first of each list is preselected; a command without a form uses it. ' +
        'The values that the service allows are not known.',
    ),
    access: setting(
      z
        .strictObject({
          guests: offByDefault('Whether guests of the workspace may use the relay, single-channel and multi-channel.'),
          strangers: offByDefault(
            'Whether people of other workspaces may use the relay, in channels that are shared with them.',
          ),
          knownOnly: offByDefault(
            'Whether only people whom the service knows, by their address or by `people`, may use the relay.',
          ),
        })
        .prefault({}),
      'Who may use the relay at all.',
    ),
    permissions: setting(
      z.record(z.string(), permission).default({}),
      'For each permission: the channels in which its commands may be used, and the user groups whose members may use them. ' +
        'The permissions of the relay are `defect`, also for `relate`; `task`; `done`, also for `undo`; `log`, also for `today` and `week`; and `find`. A ' +
        'command of your own may name one of these or another. Everyone may use what is left out, everywhere.',
      { log: { userGroups: ['S0123ABCD'] }, defect: { channels: ['C0123ABCD'] } },
    ),
  },
  refusingSecrets('slack'),
);

const person = z
  .strictObject({
    slack: setting(slackUser.optional(), 'The id in Slack.', 'U0123ABCD'),
    github: setting(
      textLike(/^[\w-]+$/, 'expected a login').optional(),
      'The login on GitHub. Letter case does not matter.',
      'octocat',
    ),
    githubId: setting(
      z.int().positive().optional(),
      'The id of the account on GitHub, which `npx partner-relay config check` prints. With it, the relay refuses commands ' +
        'of another account that took over the login: GitHub gives a free login to anyone.',
      583_231,
    ),
    email: setting(z.email(), 'The address of the user in the service.', 'ada@example.com'),
    timeZone: setting(
      timeZone.default('UTC'),
      'For dates such as "yesterday" in GitHub comments. In Slack, the zone of the Slack profile counts.',
      'Europe/Berlin',
    ),
  })
  .refine(
    ({ slack, github }) => (slack ?? github) !== undefined,
    'expected slack, github or both: the person is known by them',
  )
  .refine(({ github, githubId }) => github !== undefined || githubId === undefined, {
    path: ['githubId'],
    message: 'github is missing; the id is that of its account',
  });

/** The settings of `relay.config.ts`. docs/configuration.md is generated from their descriptions and examples. */
export const configSchema = z
  .strictObject({
    connections: setting(
      z
        .record(name, connection)
        .refine((connections) => Object.keys(connections).length > 0, 'expected at least one connection'),
      'The instances of the service, each with one API key, by a name of your choice. The base URL and the keys are ' +
        'in the secret `partner/<name>`.',
    ),
    github: setting(github.prefault({}), 'What the relay does with events of GitHub.'),
    slack: setting(slack.optional(), 'Commands and messages in Slack. Without it, no function for Slack is deployed.'),
    timesheets: setting(timesheetsConfig.optional(), 'Reminders of time that is not logged. They need `slack`.'),
    people: setting(
      z.array(person).default([]),
      'People whose address in Slack is not their address in the service, and people who type commands on GitHub, ' +
        'which shows no addresses.',
    ),
    contact: setting(
      z.string().min(1).max(200).default('your Partner Relay administrator'),
      'Who helps when the relay itself needs attention. Messages tell people to ask them.',
      'the platform team',
    ),
    contactChannel: setting(
      slackChannel.optional(),
      'A channel in Slack for notices of parked jobs, which wait for a person. It gets one message for each hour in which ' +
        'jobs were parked, and one when a connection has been down for five minutes, when its key is refused, and when it ' +
        'works again. It needs `slack`, and the app in that channel.',
      'C0123ABCD',
    ),
    caFile: setting(
      z.string().min(1).optional(),
      'A PEM file with certificates of authorities that the relay trusts besides the public ones when it calls the ' +
        "service. The path is relative to the project's folder.",
      'company-ca.pem',
    ),
    deployment: setting(deployment.prefault({}), 'How the relay runs on AWS. It has no effect on one machine.'),
  })
  .superRefine((config, context) => {
    const { connections, github, slack, timesheets, contactChannel } = config;
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    for (const [index, { issueToDefect, issueToTask }] of github.repositories.entries()) {
      const isOfDefects = (label: string) =>
        issueToDefect?.labels.some((other) => other.toLowerCase() === label.toLowerCase());
      const both = issueToTask?.labels.find(isOfDefects);
      if (both === undefined) continue;
      const path = ['github', 'repositories', index, 'issueToTask', 'labels'];
      refuse(path, `issues with the label '${both}' become defects already`);
    }
    function refuseUnknown(connection: string | undefined, ...path: (string | number)[]): void {
      if (connection === undefined || Object.hasOwn(connections, connection)) return;
      refuse([...path, 'connection'], unknownName('no connection', connection, Object.keys(connections)));
    }
    for (const [index, { connection }] of github.repositories.entries())
      refuseUnknown(connection, 'github', 'repositories', index);
    refuseUnknown(slack?.connection, 'slack');
    for (const [index, { connection }] of (timesheets?.teams ?? []).entries())
      refuseUnknown(connection, 'timesheets', 'teams', index);
    for (const [channel, { connection }] of Object.entries(slack?.channels ?? {}))
      refuseUnknown(connection, 'slack', 'channels', channel);
    function needSlack(isSet: boolean, why: string, ...path: string[]): void {
      if (isSet && !slack) refuse(path, `slack is missing; ${why}`);
    }
    needSlack(contactChannel !== undefined, 'notices are sent there', 'contactChannel');
    needSlack(timesheets !== undefined, 'reminders need it', 'timesheets');
    for (const [name, { mcp }] of Object.entries(connections))
      needSlack(mcp.accounts !== 'off', 'people link their accounts there', 'connections', name, 'mcp', 'accounts');
    for (const platform of ['slack', 'github'] as const) {
      refuseRepeated(
        config.people.flatMap(({ [platform]: id }, index): NamedSetting[] =>
          id === undefined ? [] : [[['people', index, platform], id]],
        ),
        context,
      );
    }
    refuseRepeated(
      config.github.repositories.map(({ name }, index) => [['github', 'repositories', index, 'name'], name]),
      context,
    );
  });

/** The configuration as written in `relay.config.ts`. */
export type RelayConfigInput = z.input<typeof configSchema>;
/** The configuration with defaults. */
export type RelayConfig = z.output<typeof configSchema>;
export type RepositoryConfig = RelayConfig['github']['repositories'][number];
export type SlackConfig = NonNullable<RelayConfig['slack']>;
export type CheckPullRequestConfig = NonNullable<RepositoryConfig['checkPullRequest']>;
export type IssueToDefectConfig = NonNullable<RepositoryConfig['issueToDefect']>;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(`the configuration has ${counted(faults.length, 'fault')}:\n  ${faults.map(faultLine).join('\n  ')}`);
    this.faults = faults;
  }
}

/**
 * Checks a configuration and adds its defaults. `relay.config.ts` exports the result, so an invalid configuration stops
 * the local start, the deployment and the command line.
 *
 * @throws {ConfigError} with all faults
 */
export function defineConfig(input: RelayConfigInput): RelayConfig {
  const read = readInput(configSchema, input);
  if (read.ok) return read.value;
  throw new ConfigError(read.faults);
}
