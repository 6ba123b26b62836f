import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';
import { synthesize } from './variants.ts';

/** The commands of a step of .github/workflows/deploy.yml. */
function commandsOf(step: string): string {
  const workflow = readFileSync(new URL('../../.github/workflows/deploy.yml', import.meta.url), 'utf8');
  const [, commands] =
    new RegExp(`- name: ${step}\\n(?: {8}(?!run).*\\n)*? {8}run: \\|\\n((?: {10}.*\\n)+)`).exec(workflow) ?? [];
  if (!commands) throw new Error(`the workflow has no step '${step}'`);
  return commands;
}

/** The jobs of the workflow, by name. */
function jobsOf(): Record<string, string> {
  const workflow = readFileSync(new URL('../../.github/workflows/deploy.yml', import.meta.url), 'utf8');
  const parts = workflow.split('\njobs:\n')[1]?.split(/^ {2}(?=\w+:$)/m) ?? [];
  return Object.fromEntries(parts.slice(1).map((text) => [text.slice(0, text.indexOf(':')), text]));
}

it("npm installs nothing where the role that deploys can be assumed: all that runs there is the CDK's command line", () => {
  const jobs = jobsOf();
  expect(Object.keys(jobs)).toEqual(['examine', 'build', 'deploy']);
  // The CLI of the CDK comes with what was built.
  for (const [name, job] of Object.entries(jobs))
    expect(/run: \|?.*\b(npm|npx) /s.test(job), name).toBe(!job.includes('DEPLOY_ROLE_ARN'));
  // The subject of a token names the environment. A job without the right gets no token.
  expect(jobs.deploy).toMatch(/^ {4}environment: \$\{\{ inputs\.stage \}\}$/m);
  expect(jobs.examine).toMatch(/^ {4}environment: \$\{\{ inputs\.stage \}\}_check$/m);
  expect(jobs.build).not.toContain('id-token');
  expect(jobs.deploy).toContain('needs: [examine, build]');
});

it.each([
  ['', 'run -s relay -- --stage prod doctor --before-deploy'],
  ['--import-existing-resources', 'run -s relay -- --stage prod doctor --before-deploy --import-existing-resources'],
])('the account is examined before, and what is in the way stops the deployment: %s', (IMPORT, asked) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "$@"\nexit 1\n', { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}`, STAGE: 'prod', IMPORT };
  const ran = spawnSync('bash', ['-e', '-c', commandsOf('examine the account')], { env, encoding: 'utf8' });
  expect(ran).toMatchObject({ status: 1, stdout: `${asked}\n` });
});

it('the first job says whom the roles must trust, in both forms', () => {
  const env = {
    ...{ PATH: process.env.PATH, STAGE: 'prod', GITHUB_REPOSITORY: 'acme/partner-relay' },
    ...{ GITHUB_REPOSITORY_OWNER: 'acme', GITHUB_REPOSITORY_OWNER_ID: '1234', GITHUB_REPOSITORY_ID: '5678' },
  };
  const { stdout } = spawnSync('bash', ['-e', '-c', commandsOf('say whom the roles must trust')], {
    env,
    encoding: 'utf8',
  });
  for (const name of ['acme/partner-relay', 'acme@1234/partner-relay@5678'])
    for (const environment of ['prod', 'prod_check'])
      expect(stdout).toMatch(new RegExp(`repo:${name}:environment:${environment}( |$)`, 'm'));
});

it('a deployment that fails prints the commands of the page that deletes what it left', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [, section = ''] = read('docs/deploy.md').split('### A first deployment fails');
  const commands = [...section.matchAll(/^ {4}(aws cloudformation .*)$/gm)].map(([, command = '']) => command);
  expect(commands).toHaveLength(2);
  const [, printed = ''] = read('.github/workflows/deploy.yml').split("steps.deploy.outcome == 'failure'");
  for (const command of commands) expect(printed).toContain(command.replace('partner-relay-prod', '$NAME'));
});

/** Alarms, by name. */
type Alarms = Record<string, 'ALARM' | 'OK'>;

const NAME = 'partner-relay-prod';
const [parked, beats] = [`${NAME}-parked-jobs`, `${NAME}-heartbeat`];
const template = JSON.stringify(synthesize('prod').template().toJSON());

/** Stands in for the AWS CLI: it knows the alarms of its file `account`, and takes no more names than AWS. */
const AWS_CLI = `case "$*" in *invoke*) echo '{}' > checked.json; cat answer.json; exit;; esac
asked="$* "; asked=\${asked#*--alarm-names}; [ $# -lt 110 ] || exit 1
while read -r name state; do case "$asked" in
  *" $name "*) case "$* $state" in
    *--state-value*OK) ;;
    *--state-value*) echo "$name";;
    *) printf '%s\t%s\n' "$name" "$state";;
  esac;;
esac; done < account`;

it.each<[string, { before: Alarms; after: Alarms; invoked?: string }, number]>([
  ['is quiet', { before: { [parked]: 'OK' }, after: { [parked]: 'OK' } }, 0],
  ['has the alarms of before', { before: { [parked]: 'ALARM' }, after: { [parked]: 'ALARM' } }, 0],
  ['has an alarm that is new', { before: { [beats]: 'OK' }, after: { [beats]: 'ALARM' } }, 1],
  ['has an alarm of a new kind', { before: { [parked]: 'OK' }, after: { [parked]: 'OK', [beats]: 'ALARM' } }, 1],
  [
    'has a neighbour with an alarm',
    { before: { [parked]: 'OK', [`${NAME}-eu-heartbeat`]: 'OK' }, after: { [`${NAME}-eu-heartbeat`]: 'ALARM' } },
    0,
  ],
  [
    'cannot check its credentials',
    { before: { [parked]: 'OK' }, after: {}, invoked: '{"FunctionError":"Unhandled"}' },
    1,
  ],
  [
    'is deployed for the first time beside another',
    { before: { [`${NAME}-eu-heartbeat`]: 'OK' }, after: { [parked]: 'ALARM' }, invoked: '{"FunctionError":"x"}' },
    0,
  ],
])('the deployment of a stage that %s ends accordingly', (_, { before, after, invoked = '{}' }, status) => {
  const folder = newFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const command = (name: string, script: string) => {
    write(name, `#!/bin/bash\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  const account = (alarms: Alarms) => {
    const lines = Object.entries(alarms).map(([name, state]) => `${name} ${state}\n`);
    write('account', lines.join(''));
  };
  const run = (step: string) => {
    const env = { PATH: `${folder}:${process.env.PATH}`, NAME };
    return spawnSync('bash', ['-eo', 'pipefail', '-c', commandsOf(step)], { cwd: folder, env, encoding: 'utf8' });
  };
  command('aws', AWS_CLI);
  command('sleep', 'true');
  write('answer.json', invoked);
  mkdirSync(join(folder, 'cdk.out'));
  write(`cdk.out/${NAME}.template.json`, template);
  account(before);
  expect(run('note the alarms')).toMatchObject({ status: 0 });
  account(after);
  const ran = run('check the stage');
  expect(ran).toMatchObject({ status });
  if (after[beats]) expect(ran.stdout).toContain(`These alarms are new: ${beats}.`);
});
