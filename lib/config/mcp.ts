import * as z from 'zod';
import { meantName } from '../faults/fault.ts';
import { setting, textLike } from './kinds.ts';
import { fieldsIn } from './template.ts';

/** @param allowed the service's limit, for each key and for each address that calls tools */
const callLimit = (allowed: number) =>
  z.int().min(1).max(allowed, `expected at most ${allowed}, because the service refuses more`).default(allowed);

/** The maximum calls in a minute and in a day. */
export const callLimits = z
  .strictObject({
    perMinute: setting(callLimit(120), 'Calls in a minute. The default is the limit of the service.', 60),
    perDay: setting(callLimit(5_000), 'Calls in a day. The default is the limit of the service.', 2_000),
  })
  .prefault({});

const toolName = textLike(
  /^[\x21-\x7e]{1,128}$/,
  'expected the name of a tool, as npx partner-relay mcp doctor lists it',
);

/** A path in a result's structured content: names joined by dots, such as `entry.timelog_id`. */
const path = textLike(/^[^.\s]+(\.[^.\s]+)*$/, 'expected names joined by dots, such as entry.id');

const schemaHash = textLike(
  /^[0-9a-f]{20}$/,
  "expected the hash of the tool's schema, which npx partner-relay mcp doctor prints",
);

/**
 * The fields of each command for a template. `{hours}` alone becomes the value itself; in a longer text, it is inserted
 * as text. An argument is left out if all its fields are missing.
 */
const commandFields = {
  log: ['task', 'hours', 'minutes', 'date', 'note', 'marker'],
  done: ['item', 'items'],
  undo: ['item', 'items'],
  defect: ['project', 'title', 'description', 'type', 'priority', 'severity', 'marker'],
  find: ['text'],
  week: ['from', 'to'],
} as const;

export type MappedCommand = keyof typeof commandFields;

/**
 * A template with these fields. A search for what may have been created can use the fields of its command, and the
 * marker.
 */
function template(fields: readonly string[]) {
  return z.record(z.string(), z.unknown()).superRefine((given, context) => {
    for (const unknown of fieldsIn(given).filter((field) => !fields.includes(field))) {
      const message = `there is no field {${unknown}} here; ${meantName(unknown, fields)}`;
      context.addIssue({ code: 'custom', message });
    }
  });
}

const called = (fields: readonly string[]) => ({
  tool: toolName,
  arguments: template(fields).default({}),
  schema: schemaHash,
});

/** A tool that lists things, and the paths in its result. */
const listing = (fields: readonly string[]) => z.strictObject({ ...called(fields), rows: path, id: path, text: path });

const creating = (fields: readonly string[]) =>
  z
    .strictObject({ ...called(fields), id: path.optional(), lookUp: listing(fields).optional() })
    .refine(({ lookUp, arguments: given }) => !lookUp || fieldsIn(given).includes('marker'), {
      path: ['arguments'],
      message: 'with lookUp, one of the arguments has to contain {marker}, by which the created thing is found',
    });

const changing = (fields: readonly string[]) => z.strictObject(called(fields));

const commands = z
  .strictObject({
    log: creating(commandFields.log),
    done: changing(commandFields.done),
    undo: changing(commandFields.undo),
    defect: creating(commandFields.defect),
    find: listing(commandFields.find).partial({ rows: true, id: true, text: true }),
    week: z.strictObject({
      ...called(commandFields.week),
      rows: path.optional(),
      date: path.optional(),
      hours: path.optional(),
      minutes: path.optional(),
      text: path.optional(),
    }),
  })
  .partial();

export const mcpConfig = setting(
  z
    .strictObject({
      limits: setting(
        callLimits,
        'What the relay may use of the limits of the MCP endpoint. The service counts by calling address: lower them if ' +
          'other clients call from the same one.',
      ),
      accounts: setting(
        z.enum(['off', 'offered', 'required']).default('off'),
        'Whether people can link their accounts with `/pm link`. `offered`: the commands of `mcp.commands` go through the ' +
          "person's linked account, or without one through the key. `required`: nothing that a person asks for in Slack or " +
          'on GitHub goes through the key. The person needs a linked account, and each command a tool in `mcp.commands`. Both ' +
          'need `slack`.',
        'offered',
      ),
      commands: setting(
        commands.default({}),
        'The tools for the commands of people who have linked an account. `npx partner-relay mcp doctor` lists the tools of the ' +
          'instance, and checks these settings. `arguments` can have the fields of the command: `{hours}` alone stays a ' +
          "number; in a longer text, it becomes text. `schema` is the hash of the tool's schema: the relay does not call a " +
          'tool that has changed. `lookUp` is a tool that lists what `tool` creates, to find it by its `{marker}` after a ' +
          "lost answer. `week` lists the person's time from one date to another, for `/pm today` and `/pm week`.",
        {
          log: {
            tool: 'log_time',
            arguments: { task: '{task}', hours: '{hours}', day: '{date}', comment: '{note} {marker}' },
            schema: '0123456789abcdef0123',
            id: 'entry.timelog_id',
            lookUp: {
              tool: 'list_time',
              arguments: { task: '{task}', from: '{date}', to: '{date}' },
              schema: '0123456789abcdef0123',
              rows: 'entries',
              id: 'entry',
              text: 'comment',
            },
          },
          done: {
            tool: 'complete_checklist_items',
            arguments: { items: '{items}', done: true },
            schema: '0123456789abcdef0123',
          },
        },
      ),
    })
    .prefault({}),
  'The MCP endpoint of the service, where people act in their own name. See [mcp.md](mcp.md).',
);

export type McpConfig = z.output<typeof mcpConfig>;
export type CommandTools = McpConfig['commands'];
export type Listing = NonNullable<NonNullable<CommandTools['log']>['lookUp']>;
export type CreatingTool = NonNullable<CommandTools['log']>;
export type FindTool = NonNullable<CommandTools['find']>;

export function toolsIn(commands: CommandTools = {}): string[] {
  const { log, defect } = commands;
  return [...Object.values(commands), log?.lookUp, defect?.lookUp].flatMap((use) => use?.tool ?? []);
}
