import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder } from '../new-folder.ts';

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

it.each([
  ['is quiet', { before: 'p-a OK', after: '', invoked: '{}' }, 0],
  ['has the alarms of before', { before: 'p-a ALARM', after: 'p-a', invoked: '{}' }, 0],
  ['has an alarm that is new', { before: 'p-a ALARM\np-b OK', after: 'p-a\np-b', invoked: '{}' }, 1],
  ['cannot check its credentials', { before: 'p-a OK', after: '', invoked: '{"FunctionError":"Unhandled"}' }, 1],
  ['is deployed for the first time', { before: '', after: 'p-a', invoked: '{"FunctionError":"Unhandled"}' }, 0],
])('the deployment of a stage that %s ends accordingly', (_, { before, after, invoked }, status) => {
  const folder = newFolder();
  const command = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  const says = (text: string) => (text === '' ? 'true' : `printf '%s\\n' '${text.replaceAll('\n', "' '")}'`);
  command('aws', `case "$*" in *invoke*) echo '{}' > checked.json; ${says(invoked)};; *ALARM*) ${says(after)};; esac`);
  command('sleep', 'true');
  writeFileSync(join(folder, 'before.txt'), before && `${before.replaceAll(' ', '\t')}\n`);
  const env = { PATH: `${folder}:${process.env.PATH}`, NAME: 'p' };
  const ran = spawnSync('bash', ['-e', '-c', commandsOf('check the stage')], { cwd: folder, env, encoding: 'utf8' });
  expect(ran).toMatchObject({ status });
  if (before.includes('p-b')) expect(ran.stdout).toContain('These alarms are new: p-b.');
});
