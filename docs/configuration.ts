import { inspect } from 'node:util';
import * as z from 'zod';
import { configSchema } from '../lib/config/schema.ts';

const INTRODUCTION = `# Configuration

<!-- Made by \`npm run docs\` from the descriptions and examples in lib/config/. Edit them there. -->

\`relay.config.ts\` exports what \`defineConfig\` returns, which checks the configuration and fills in the defaults. A wrong
configuration stops the local start, the deployment and the command line. To check it without any of them:

    npx partner-relay config check

Every fault has its path, what was found, what is expected, and the nearest right name:

    relay.config.ts has 1 fault:
      github.repositories.0.logtime: this name is unknown; did you mean 'logTime'?

The relay on your machine applies a saved file at once. If the file has a fault, the relay says which, and keeps the
earlier one. It says when a change needs a restart: of the names of connections, \`connections.<name>.mcp.accounts\`,
\`github.apiUrl\`, \`slack.apiUrl\` and \`caFile\`, and when \`slack\` comes or goes.

To use another file than \`relay.config.ts\`, name it in the environment variable \`RELAY_CONFIG\`.

    import { defineConfig } from 'partner-relay';

    export default defineConfig({
      connections: { main: {} },
      github: {
        repositories: [
          {
            name: 'acme/web',
            connection: 'main',
            issueToDefect: { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' },
          },
        ],
      },
    });

Below, \`[]\` stands for an entry of a list and \`<name>\` for a key of an object. "Required" holds if the object around the
setting is there. Base URLs, keys and tokens are not settings: they are secrets, which you enter [for a
stage](deploy.md#4-enter-the-api-key-of-the-service) or [on one machine](guides/github.md#3-use-your-instance). A single connection
on one machine can also take \`PARTNER_BASE_URL\`, \`PARTNER_API_KEY\` and \`PARTNER_SECRET_KEY\` from its environment.
`;

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A setting or a group of settings, and its path: `github.repositories[].name`. */
interface Setting {
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/**
 * Writes docs/configuration.md: every setting of relay.config.ts with its type, default, description and example. If
 * the example of a setting shows its parts, they have no entries of their own.
 *
 * @throws {Error} if a setting has no description or example, or its schema refuses the example
 */
export function configurationPage(): string {
  const sections = settingsOf(jsonSchema(), '').map(
    (top) => `## ${top.path}\n\n${[top, ...below(top)].map(entry).join('\n')}\n`,
  );
  return [INTRODUCTION, ...sections].join('\n');
}

function jsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, {
    io: 'input',
    override({ zodSchema, jsonSchema, path }) {
      for (const example of jsonSchema.examples ?? []) {
        const parsed = z.safeParse(zodSchema, example);
        if (!parsed.success) throw new Error(`the example of ${path.join('.')} is refused: ${parsed.error.message}`);
      }
    },
  });
}

/** The settings inside a setting, depth first. */
function below({ path, schema }: Setting): Setting[] {
  return settingsOf(schema, path).flatMap((setting) => [setting, ...below(setting)]);
}

function settingsOf(schema: JsonSchema, path: string): Setting[] {
  if (schema.examples) return [];
  if (schema.type === 'array' && isSchema(schema.items)) return settingsOf(schema.items, `${path}[]`);
  if (isSchema(schema.additionalProperties)) return settingsOf(schema.additionalProperties, `${path}.<name>`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    isSchema(property)
      ? [
          {
            path: path ? `${path}.${name}` : name,
            schema: property,
            isRequired: schema.required?.includes(name) ?? false,
          },
        ]
      : [],
  );
}

function entry(setting: Setting): string {
  const { path, schema, isRequired } = setting;
  const isGroup = settingsOf(schema, path).length > 0;
  const [example] = schema.examples ?? [];
  if (!schema.description) throw new Error(`${path} has no description`);
  if (example === undefined && !isGroup) throw new Error(`${path} has no example`);
  const facts = [typeOf(schema), isRequired ? 'required' : defaultOf(schema)];
  const sample = example === undefined ? '' : ` Example: ${code(example)}.`;
  return `- **\`${path}\`** (${facts.join(', ')}). ${schema.description}${sample}`;
}

/** An empty default belongs to a group, whose settings have their own defaults. */
function defaultOf(schema: JsonSchema): string {
  const isEmpty = literal(schema.default) === '{}';
  return schema.default === undefined || isEmpty ? 'optional' : `default ${code(schema.default)}`;
}

const FORMATS: Readonly<Record<string, string>> = { uri: 'URL', email: 'e-mail address', uuid: 'UUID', date: 'date' };

function typeOf(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map((option) => typeOf(option)).join(' or ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(' or ');
  if (schema.type === 'array') return `list${isSchema(schema.items) ? ` of: ${typeOf(schema.items)}` : ''}`;
  if (schema.type === 'object') return isSchema(schema.additionalProperties) ? 'object by name' : 'object';
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type}${range(schema)}`;
  return FORMATS[schema.format ?? ''] ?? String(schema.type);
}

/** The range of a number. zod gives every integer JavaScript's safe limits, which are left out. */
function range({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema): string {
  const from = minimum === Number.MIN_SAFE_INTEGER ? '' : ` from ${minimum}`;
  return maximum === Number.MAX_SAFE_INTEGER ? from : `${from} to ${maximum}`;
}

const code = (value: unknown) => `\`${literal(value)}\``;

/** Writes a value on one line, as in relay.config.ts. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return inspect(value);
  const entries = Object.entries(value).map(
    ([name, part]) => `${/^\w+$/.test(name) ? name : inspect(name)}: ${literal(part)}`,
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
