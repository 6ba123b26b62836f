import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
import { createApp } from '../../infra/cdk-app.ts';
import { RelayStack } from '../../infra/index.ts';
import { readStage } from '../../infra/stage.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import none from '../../lib/triggers/custom-automation.ts';
import { newFolder } from '../new-folder.ts';
import { everything, synthesize } from './variants.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

it.each([
  [
    { stage: 'prod' },
    `The stage 'prod' is protected, so its alarms need a recipient. Add this to relay.config.ts, with your address:

  deployment: {
    alarms: { emails: ['operations@example.com'] },
  },
`,
  ],
  [{ stage: 'staging' }, "relay.config.ts has no stage 'staging' under deployment.stages; it has dev, prod"],
])('a mistake of the person who deploys is reported as a single sentence: %j', async (context, sentence) => {
  const config = join(folder, 'relay.config.ts');
  await writeFile(config, 'export default { connections: { main: {} } };');
  const env = { ...process.env, RELAY_CONFIG: config, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_OUTDIR: folder };
  const synthesized = run(process.execPath, [join(root, 'infra/app.ts')], { cwd: root, env });
  await expect(synthesized).rejects.toMatchObject({ code: 1, stdout: '', stderr: `${sentence}\n` });
});

it('a stack that the command line would not find is refused', () => {
  const config = defineConfig({ connections: { main: {} } });
  const relay = { config, own: { custom: none, files: [] }, stage: readStage('dev', config) };
  expect(() => new RelayStack(createApp(), 'relay', relay)).toThrow(
    "the stack of the stage 'dev' has the id 'relay': give it the id 'partner-relay-dev'",
  );
});

it('cdk synth reports nothing about a correct stage', async () => {
  synthesize('prod', everything, { outdir: folder }).app.synth();
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
  const options = ['synth', '--quiet', '--no-notices', '--app', folder];
  expect(await run(process.execPath, [cdk, ...options], { cwd: root })).toEqual({ stdout: '', stderr: '' });
});
