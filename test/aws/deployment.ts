import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { RelayConfig } from '../../lib/config/schema.ts';
import type { StageInput } from '../infra/variants.ts';
import type { Credentials } from './borrowed-credentials.ts';
import type { Emulator } from './emulator.ts';
import type { Scratch } from './scratch.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NOT_COPIED = new Set(['.git', '.relay', 'cdk.out', 'dist', 'node_modules']);

/** The outputs of the stack. */
const stackOutputs = z.object({
  GithubWebhookUrl: z.url(),
  SlackWebhookUrl: z.optional(z.url()),
  AccountLinkUrl: z.optional(z.url()),
  HooksUrl: z.optional(z.url()),
  TableName: z.string(),
  InteractiveQueueUrl: z.url(),
  BackgroundQueueUrl: z.url(),
  SecretPrefix: z.string(),
  ConsoleReadPolicyArn: z.string(),
  ConsoleOperatePolicyArn: z.string(),
  ConsoleSecretsPolicyArn: z.string(),
});
export type StackOutputs = z.output<typeof stackOutputs>;

/** A copy of the project, so that its configuration can change without affecting other builds. */
export interface Deployment {
  stage: string;
  bootstrap(): Promise<void>;
  /** @returns what the CDK CLI printed */
  deploy(): Promise<string>;
  outputs(): Promise<StackOutputs>;
  /** Replaces `relay.config.ts` for the next deployment. The stage is declared in it. */
  configure(config: RelayConfig, settings?: StageInput): Promise<void>;
  /** Runs a command in the folder of the project. @returns its output */
  type(command: string): Promise<string>;
  /** Runs a command of the command line on the stage. @returns its output */
  relay(...args: string[]): Promise<string>;
  /** Serves the stage's console with a person's credentials, until the test ends. @returns the printed address */
  console(person: Credentials, ...args: string[]): Promise<string>;
  destroy(): Promise<void>;
}

/** @param signal stops the work under way */
export async function copyProject(
  stage: string,
  { emulator, scratch, signal }: { emulator: Emulator; scratch: Scratch; signal: AbortSignal },
): Promise<Deployment> {
  const folder = join(scratch.folder, stage);
  await cp(ROOT, folder, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const outputsFile = join(scratch.folder, `${stage}.json`);
  const options = { cwd: folder, env: emulator.variables, signal };
  const cdk = (command: string, ...args: string[]) =>
    scratch.run('node_modules/.bin/cdk', [command, '-c', `stage=${stage}`, '--no-notices', ...args], options);

  return {
    stage,
    bootstrap: async () => void (await cdk('bootstrap')),
    async deploy() {
      const { stdout, stderr } = await cdk('deploy', '--require-approval', 'never', '--outputs-file', outputsFile);
      return stdout + stderr;
    },
    async outputs() {
      const stacks = z.record(z.string(), stackOutputs).parse(JSON.parse(await readFile(outputsFile, 'utf8')));
      const outputs = stacks[`partner-relay-${stage}`];
      if (!outputs) throw new Error(`there are outputs of ${Object.keys(stacks)} only`);
      return outputs;
    },
    async configure(config, settings = {}) {
      const declared = { ...config, deployment: { ...config.deployment, stages: { [stage]: settings } } };
      const text = `import { defineConfig } from './lib/config/schema.ts';\nexport default defineConfig(${JSON.stringify(declared)});\n`;
      await writeFile(join(folder, 'relay.config.ts'), text);
    },
    async type(command) {
      const env = { ...options.env, CDK_REQUIRE_APPROVAL: 'never' };
      return (await scratch.run('sh', ['-c', command], { ...options, env })).stdout;
    },
    async relay(...args) {
      return (await scratch.run('node', ['cli/bin.js', '--stage', stage, ...args], options)).stdout;
    },
    async console({ accessKeyId, secretAccessKey, sessionToken }, ...args) {
      const credentials = {
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        AWS_SESSION_TOKEN: sessionToken,
      };
      const command = ['cli/bin.js', '--stage', stage, 'console', '--port', '0', ...args];
      const served = scratch.start('node', command, { ...options, env: { ...options.env, ...credentials } });
      const failure = text(served.stderr);
      for await (const address of createInterface({ input: served.stdout })) return address;
      throw new Error(`the console does not start: ${await failure}`);
    },
    destroy: async () => void (await cdk('destroy', '--force')),
  };
}
