import { text } from 'node:stream/consumers';
import * as z from 'zod/mini';
import { type ReadFolder, readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { faultLine, meantName, readInput } from '../lib/faults/fault.ts';
import { type Keyed, secretFault } from '../lib/intake/hooks/is-genuine.ts';
import { instanceRoot } from '../lib/service/partner/base-url.ts';
import { instanceSecret } from '../lib/state/secrets/partner-secrets.ts';
import { messageOf, parsedJson } from '../lib/text.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import type { Verification } from '../lib/triggers/webhook.ts';
import { SECRET_NAMES, secretSchema } from '../local/secret-schemas.ts';
import { askSecret } from './ask.ts';
import type { Define } from './cli.ts';
import { openSecretStore } from './secret-store.ts';

const NAMES = SECRET_NAMES.join(', ');

/** `secrets set`: writes a secret of a stage or of this machine, and prints no value. */
export const define: Define = (command, { stage, readConfig, customFolder }) =>
  command
    .command('set <name>')
    .description(`enter a secret: ${NAMES}`)
    .addHelpText(
      'after',
      `
At a terminal, the command asks for each field and hides what you type. Press Enter to leave out an optional field. Enter
@file to use the content of a file, for example the App's private key. From a pipe, the command reads a JSON object, or the
text of the secret if only one field is required.

  github-webhook        the secret of the webhook on GitHub
  github                a token, or the id and the private key of a GitHub App
  slack                 the signing secret and the bot token of the Slack app
  partner/<connection>  the address and the keys of an instance of the service
  calendar/<team>       the address of a team's calendar of absences
  hooks/<automation>    the secret of a webhook of your own
  instance/<connection> only the address of the instance, for people who link accounts
  grants                the key that encrypts what people who linked an account have allowed
  markers               the key of the marks by which the relay finds what it has created
  intake                the key with which the webhooks sign jobs of people

A deployment creates the last three. Enter them only to restore a stage.

Without --stage, the secret is kept in .relay/secrets.json, which only you can read, and the relay on this machine uses it.

  npx partner-relay --stage prod secrets set partner/main
  npx partner-relay secrets set partner/main`,
    )
    .action(async (name: string) => {
      const schema = secretSchema(name);
      const entered = process.stdin.isTTY ? await askSecret(schema) : piped(await text(process.stdin), schema);
      if (entered === undefined)
        throw new Error(
          `standard input is not JSON: run the command at a terminal, or pipe a JSON object to it with fields of these: ${Object.keys(schema.shape).join(', ')}`,
        );
      const read = readInput(z.strictObject(schema.shape), entered, { showValues: false });
      if (!read.ok) {
        throw new Error(
          `the secret ${name} is not stored:\n  ${read.faults.map(faultLine).join('\n  ')}\nIt has the fields ${Object.keys(schema.shape).join(', ')}.`,
        );
      }
      refuseAddress(name, read.value);
      const verify =
        VERIFIED_BY.get(name) ??
        (await ofHook(name, async () => readCustomAutomations(await readConfig(), customFolder)));
      if (verify) checkStrength(name, verify, read.value);
      await openSecretStore(stage()).put(name, read.value);
    });

/** Reads piped input: JSON, or the text of the only required field. */
function piped(given: string, { shape }: z.ZodMiniObject): unknown {
  const [field, ...others] = Object.keys(shape).filter((name) => !(shape[name] instanceof z.ZodMiniOptional));
  const isJson = /^\s*[[{]/.test(given) || field === undefined || others.length > 0;
  return isJson ? parsedJson(given) : { [field]: given.trim() };
}

/** How these secrets verify requests. */
const VERIFIED_BY: ReadonlyMap<string, Keyed> = new Map([
  ['github-webhook', { by: 'hmac' }],
  ['slack', { by: 'hmac' }],
]);

/** How the secret of a webhook verifies requests, from the webhook's file. */
async function ofHook(name: string, read: () => Promise<ReadFolder>): Promise<Verification | undefined> {
  const [, file] = /^hooks\/(.+)$/.exec(name) ?? [];
  if (file === undefined) return undefined;
  const hooks = customOf((await read()).custom, 'webhook');
  const names = hooks.map((one) => one.name);
  // The secret may be entered before the file is written.
  if (!names.includes(file))
    console.error(
      `Nothing uses the secret ${name} yet: automations/${file}.ts has no webhook; ${meantName(file, names)}`,
    );
  return hooks.find((one) => one.name === file)?.verify;
}

/** Checks the strength of a secret. @throws {Error} if it cannot verify requests */
function checkStrength(
  name: string,
  verify: Keyed,
  { botToken: _, ...secret }: Readonly<Record<string, unknown>>,
): void {
  for (const one of Object.values(secret)) {
    const fault = secretFault(verify, String(one));
    if (fault && (verify.by === 'standard' || !fault.isUsable))
      throw new Error(`the secret ${name} is not stored: ${fault.what}`);
    if (fault) console.error(`The secret ${name} is weak: ${fault.what}.`);
  }
}

/** Checks the address of an instance. @throws {Error} if the relay would not call it */
function refuseAddress(name: string, secret: Readonly<Record<string, unknown>>): void {
  const { success, data } = instanceSecret.safeParse(secret);
  try {
    if (success) instanceRoot(data.baseUrl, data);
  } catch (error) {
    throw new Error(`the secret ${name} is not stored: ${messageOf(error)}`);
  }
}
