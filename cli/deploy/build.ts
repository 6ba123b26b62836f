import { copyFileSync, cpSync, existsSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../lib/version.ts';
import type { Define } from '../cli.ts';
import { cdkFolder } from './cdk.ts';
import type { Deployment } from './deploy-built.ts';

/** `build`: writes everything that a deployment of a stage needs. */
export const define: Define = (command, { stage }) =>
  command
    .description('write everything that a deployment of the stage needs, without rights in the account')
    .option('--output <folder>', 'where to', OUTPUT)
    .addHelpText(
      'after',
      `
  npx partner-relay build --stage prod
  npx partner-relay deploy --from ${OUTPUT}

deploys it elsewhere. There, only Node is needed: node ${OUTPUT}/deploy.mjs does the same.`,
    )
    .action(async ({ output }: { output: string }) => {
      const name = stageIn(stage());
      await build(name, output);
      console.log(`${output} has the stage ${name}: npx partner-relay deploy --from ${output} deploys it.`);
      const trusted = trustedInWords(name, process.env);
      if (trusted !== undefined) console.log(trusted);
    });

export const OUTPUT = 'cdk.out';

/** Returns the name of the stage. @throws {Error} without `--stage` */
export function stageIn(stage: string | undefined): string {
  if (stage !== undefined) return stage;
  throw new Error('name the stage of relay.config.ts with --stage');
}

/** Writes the stack, the CDK's command line, and deploy.mjs, which deploys the stack with it. */
export async function build(stage: string, output: string): Promise<void> {
  const cdk = cdkFolder();
  const { createApp } = await import('../../infra/cdk-app.ts');
  const { RelayStack, relayOf } = await import('../../infra/index.ts');
  // The stack replaces folders of these names in the output folder.
  const [source] = globSync(['package.json', '{automations,functions}/*.ts'], { cwd: output });
  if (source !== undefined)
    throw new Error(`${join(output, source)} was not written by build: name another folder with --output`);
  // Without this file, the output of a failed build cannot be deployed.
  rmSync(join(output, 'deployment.json'), { force: true });
  const relay = await relayOf(stage);
  const app = createApp({ outdir: output });
  new RelayStack(app, `partner-relay-${stage}`, relay);
  app.synth();
  cpSync(cdk, join(output, 'aws-cdk'), { recursive: true });
  const released = join(import.meta.dirname, 'deploy.mjs');
  if (existsSync(released)) copyFileSync(released, join(output, 'deploy.mjs'));
  else (await import('./bundle.ts')).bundleDeploy(join(output, 'deploy.mjs'));
  const { config, own } = relay;
  const deployment: Deployment = { stage, version: VERSION, config, own: own.custom.list };
  writeFileSync(join(output, 'deployment.json'), JSON.stringify(deployment));
}

/**
 * In a job of GitHub Actions: the two possible names of this repository. If the deployment role trusts the wrong one,
 * AWS refuses the job that deploys before any code of ours runs.
 */
export function trustedInWords(
  stage: string,
  { GITHUB_REPOSITORY: name = '', GITHUB_REPOSITORY_OWNER_ID: ownerId, GITHUB_REPOSITORY_ID: id }: NodeJS.ProcessEnv,
): string | undefined {
  if (ownerId === undefined) return undefined;
  const [owner, repository] = name.split('/');
  return `GitHub names this repository ${name}, or, if it is new, renamed or transferred since 2026-07-15, ${owner}@${ownerId}/${repository}@${id}. If AWS refuses the job that deploys, run npx partner-relay deploy-role --stage ${stage} --repository with the other name: docs/deploy.md#deploy-from-github-actions`;
}
