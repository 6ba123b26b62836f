import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Command } from 'commander';
import * as z from 'zod/mini';
import {
  githubCredentials,
  githubWebhookSecret,
  grantsSecret,
  partnerSecret,
  slackSecret,
} from '../lib/secrets/secrets.ts';

/** The fields of a secret, by a pattern of its name. */
const schemas: readonly [RegExp, z.ZodMiniObject][] = [
  [/^github-webhook$/, githubWebhookSecret],
  [/^github$/, githubCredentials],
  [/^slack$/, slackSecret],
  [/^grants$/, grantsSecret],
  [/^partner\/[a-z0-9-]+$/, partnerSecret],
];

/** `secrets set` and `secrets from-github`; both write to Secrets Manager and print no value. */
export function addSecretCommands(program: Command, stage: () => string | undefined): void {
  const secrets = program.command('secrets').description('enter the secrets of a stage; values are never shown');

  secrets
    .command('set <name>')
    .description('enter a secret: github-webhook, github, slack, grants, or partner/<connection>')
    .addHelpText(
      'after',
      `
At a terminal, the command asks for each field and hides what you type. Press Enter to leave out an optional field. Enter
@file to use the content of a file, for example the App's private key. From a pipe, the command reads a JSON object.

  npm run -s relay -- --stage prod secrets set partner/main`,
    )
    .action(async (name: string) => {
      const schema = schemas.find(([pattern]) => pattern.test(name))?.[1];
      if (!schema) {
        throw new Error(
          `there is no secret '${name}'; use github-webhook, github, slack, grants or partner/<connection>`,
        );
      }
      const entered = process.stdin.isTTY ? await ask(schema) : parseJson(await text(process.stdin));
      const checked = z.strictObject(schema.shape).safeParse(entered);
      if (!checked.success) {
        // Names only, because zod's messages could contain a value.
        const fields = checked.error.issues.flatMap((issue) => ('keys' in issue ? issue.keys : [issue.path.join('.')]));
        throw new Error(
          `missing, empty or unknown fields: ${fields.join(', ')}; ${name} has the fields ${Object.keys(schema.shape).join(', ')}`,
        );
      }
      await put(required(stage()), name, checked.data);
    });

  secrets
    .command('from-github <code>')
    .description('fetch the keys of a new GitHub App with the code from its creation, and store them as secrets')
    .option('--api-url <url>', 'the API of a GitHub Enterprise Server', 'https://api.github.com')
    .action(async (code: string, options: { apiUrl: string }) => {
      const name = required(stage());
      const response = await fetch(`${options.apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`, {
        method: 'POST',
        headers: { accept: 'application/vnd.github+json', 'user-agent': 'partner-relay' },
      });
      if (!response.ok) {
        throw new Error(
          `GitHub answers ${response.status}: a code is valid for one hour and one use; create the App again`,
        );
      }
      const app = conversion.parse(await response.json());
      await put(name, 'github-webhook', { webhookSecret: app.webhook_secret });
      await put(name, 'github', { appId: String(app.id), privateKey: app.pem });
      console.log(`Now install the App on your repositories: ${app.html_url}/installations/new`);
    });
}

/** https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest */
const conversion = z.object({ id: z.int(), pem: z.string(), webhook_secret: z.string(), html_url: z.string() });

function required(stage: string | undefined): string {
  if (stage === undefined) throw new Error('name the --stage; on this machine, npm start creates the secrets');
  return stage;
}

async function put(stage: string, name: string, value: object): Promise<void> {
  const SecretId = `partner-relay/${stage}/${name}`;
  await new SecretsManagerClient({}).send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(value) }));
  console.log(
    `${SecretId} is stored (${Object.keys(value).join(', ')}). The functions use the new value within a minute.`,
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error('standard input is not JSON');
  }
}

async function ask(schema: z.ZodMiniObject): Promise<Record<string, string>> {
  // The prompt goes to standard error; the input is not echoed.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const answers: Record<string, string> = {};
  try {
    for (const [field, type] of Object.entries(schema.shape)) {
      process.stderr.write(`${field}${type instanceof z.ZodMiniOptional ? ' (optional)' : ''}: `);
      const answer = (await lines.question('')).trim();
      process.stderr.write('\n');
      if (answer !== '') answers[field] = answer.startsWith('@') ? readFileSync(answer.slice(1), 'utf8') : answer;
    }
  } finally {
    lines.close();
  }
  return answers;
}
