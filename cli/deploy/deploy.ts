import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Define } from '../cli.ts';
import { build, OUTPUT, stageIn } from './build.ts';
import type { Deployment } from './deploy-built.ts';
import { runNode } from './run-node.ts';

interface Options {
  from?: string;
  yes?: boolean;
  importExistingResources?: boolean;
}

/** `deploy`: runs deploy.mjs in the folder that `build` wrote. */
export const define: Define = (command, { stage }) =>
  command
    .description('deploy a stage: examine the account, show the difference, deploy, and watch the alarms')
    .option('--from <folder>', 'deploy what build wrote there, and build nothing')
    .option('--yes', 'deploy without asking, as it does without a terminal')
    .option('--import-existing-resources', 'take over the logs that an earlier deployment of a protected stage kept')
    .addHelpText(
      'after',
      `
  npx partner-relay deploy --stage prod
  npx partner-relay deploy --from ${OUTPUT}`,
    )
    .action(async ({ from, yes, importExistingResources }: Options) => {
      const folder = from ?? OUTPUT;
      if (from === undefined) await build(stageIn(stage()), folder);
      else refuseAnother(from, stage());
      const options = [...(yes ? ['--yes'] : []), ...(importExistingResources ? ['--import-existing-resources'] : [])];
      process.exitCode = await runNode(join(folder, 'deploy.mjs'), options);
    });

/** Checks the folder. @throws {Error} if it has not been built, or is of another stage */
function refuseAnother(folder: string, named: string | undefined): void {
  const file = join(folder, 'deployment.json');
  if (!existsSync(file))
    throw new Error(`${folder} has no deployment: npx partner-relay build --stage <stage> writes it`);
  const { stage }: Deployment = JSON.parse(readFileSync(file, 'utf8'));
  if (named !== undefined && named !== stage) throw new Error(`${folder} has the stage ${stage}, not ${named}`);
}
