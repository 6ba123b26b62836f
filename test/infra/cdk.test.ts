import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
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
    'app.ts',
    { stage: 'prod' },
    `The stage 'prod' is protected, so its alarms need a recipient. Add this to relay.config.ts, with your address:

  deployment: {
    alarms: { emails: ['operations@example.com'] },
  },
`,
  ],
  ['app.ts', { stage: 'staging' }, "relay.config.ts has no stage 'staging' under deployment.stages; it has dev, prod"],
  [
    'deploy-role-app.ts',
    { stage: 'prod' },
    "the repository '' is not valid: expected a name with ids such as acme@1234/partner-relay@5678, or acme/partner-relay for a server or a repository from before 2026-07-15",
  ],
])('what a person who deploys has to correct is a sentence alone: %s %j', async (app, context, sentence) => {
  const config = join(folder, 'relay.config.ts');
  await writeFile(config, 'export default { connections: { main: {} } };');
  const env = { ...process.env, RELAY_CONFIG: config, CDK_CONTEXT_JSON: JSON.stringify(context), CDK_OUTDIR: folder };
  await expect(run(process.execPath, [join(root, 'infra', app)], { cwd: root, env })).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `${sentence}\n`,
  });
});

it('cdk synth has nothing to say of a stage that is as it should be', async () => {
  synthesize('prod', everything, { outdir: folder }).app.synth();
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
  const options = ['synth', '--quiet', '--no-notices', '--app', folder];
  expect(await run(process.execPath, [cdk, ...options], { cwd: root })).toEqual({ stdout: '', stderr: '' });
});
