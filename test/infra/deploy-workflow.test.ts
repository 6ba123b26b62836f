import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';
import { synthesize } from './variants.ts';

/** The commands of a step of .github/workflows/deploy.yml. */
function commandsOf(step: string): string {
  const workflow = readFileSync(new URL('../../.github/workflows/deploy.yml', import.meta.url), 'utf8');
  const [, commands] = new RegExp(`- name: ${step}\\n {8}run: \\|\\n((?: {10}.*\\n)+)`).exec(workflow) ?? [];
  if (!commands) throw new Error(`the workflow has no step '${step}'`);
  return commands;
}

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
