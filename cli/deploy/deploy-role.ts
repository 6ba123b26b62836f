import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Define } from '../cli.ts';
import { stageIn } from './build.ts';
import { cdkFolder, cdkIn } from './cdk.ts';
import { runNode } from './run-node.ts';

/** `deploy-role`: deploys the role with which GitHub Actions deploys a stage. */
export const define: Define = (command, { stage, readConfig }) =>
  command
    .description('deploy the role with which one environment of one repository of GitHub deploys the stage')
    .requiredOption('--repository <name>', 'as GitHub names it in its tokens, with ids: acme@1234/relay@5678')
    .addHelpText('after', '\n  npx partner-relay deploy-role --stage prod --repository acme@1234/relay@5678')
    .action(async ({ repository }: { repository: string }) => {
      const name = stageIn(stage());
      const cdk = cdkFolder();
      const { createApp } = await import('../../infra/cdk-app.ts');
      const { DeployRoleStack } = await import('../../infra/deploy-role.ts');
      const outdir = mkdtempSync(join(tmpdir(), 'partner-relay-'));
      try {
        const app = createApp({ outdir });
        const config = await readConfig();
        new DeployRoleStack(app, `partner-relay-${name}-deploy-role`, { repository, stage: name, config });
        app.synth();
        process.exitCode = await runNode(cdkIn(cdk), ['deploy', '--app', outdir]);
      } finally {
        rmSync(outdir, { recursive: true });
      }
    });
