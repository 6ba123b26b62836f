import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, parse } from 'acorn';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deployBuilt } from '../../cli/deploy/deploy-built.ts';
import { startChild } from '../child.ts';
import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import { newFolder } from '../new-folder.ts';
import { type Account, answerOf, BOOTSTRAP, ran, ready } from './account-stand-in.ts';
import { parseRelay, printed } from './run-command.ts';

const RELAY = fileURLToPath(new URL('../../cli/relay.ts', import.meta.url));
const NAME = 'partner-relay-prod';
const [parked, beats] = [`${NAME}-parked-jobs`, `${NAME}-heartbeat`];
const inActions = { GITHUB_REPOSITORY: 'acme/relay', GITHUB_REPOSITORY_OWNER_ID: '12', GITHUB_REPOSITORY_ID: '34' };

let account: Account;
let aws: HttpStandIn;
/** A team's folder, and the folder of its build. */
let team: string;
let built: string;
let said: string;
let variables: Record<string, string>;

/** Stands in for the CDK's command line: it notes its calls and their input, and the command in `fails` fails. */
const CDK = `const fs = require('node:fs');
const words = process.argv.slice(2);
const role = /-deploy-role.template.json$/;
const app = words[words.indexOf('--app') + 1];
const given = fs.existsSync(app) ? fs.readdirSync(app).filter((file) => role.test(file)) : [];
fs.appendFileSync(__dirname + '/calls', [...words, ...given].join(' ') + '\\n');
if (fs.existsSync(__dirname + '/fails')) process.exitCode = Number(fs.readFileSync(__dirname + '/fails', 'utf8') === words[0]);
`;

const CONFIG = {
  connections: { main: {} },
  deployment: {
    alarms: { emails: ['ops@example.com'] },
    stages: { dev: {}, prod: { protected: true, bootstrapQualifier: 'relayprod' } },
  },
};

function installCdk(folder: string): void {
  for (const name of ['aws-cdk', 'aws-cdk-lib', 'constructs']) {
    mkdirSync(join(folder, 'node_modules', name, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), '{}');
    writeFileSync(join(folder, 'node_modules', name, 'index.js'), '');
    writeFileSync(join(folder, 'node_modules', name, 'bin/cdk'), CDK);
  }
}

/** The calls of the CDK in the folder, without the folder's own name. */
function callsOf(cdk: string): string[] {
  const file = join(cdk, 'bin/calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().replaceAll(built, 'cdk.out').split('\n') : [];
}

beforeAll(async () => {
  aws = await startHttpStandIn((asked) => answerOf(account, asked));
  // The path as process.cwd() returns it.
  team = realpathSync(mkdtempSync(join(tmpdir(), 'partner-relay-')));
  built = join(team, 'cdk.out');
  installCdk(team);
  writeFileSync(join(team, 'relay.config.json'), JSON.stringify(CONFIG));
  variables = {
    RELAY_CONFIG: join(team, 'relay.config.json'),
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'of the tests',
    AWS_ENDPOINT_URL: aws.url,
  };
  Object.assign(process.env, variables, inActions);
  process.chdir(team);
  said = await printed(() => parseRelay({}, ['build', '--stage', 'prod']));
}, 120_000);
beforeEach(() => {
  account = { ...ready, stacks: { CDKToolkit: BOOTSTRAP.replace('relay', 'relayprod') } };
  Object.assign(process.env, variables);
  process.chdir(team);
  for (const name of ['calls', 'fails']) writeFileSync(join(built, 'aws-cdk/bin', name), '');
});
afterAll(async () => {
  rmSync(team, { recursive: true });
});

describe('deploy --from, and node deploy.mjs', () => {
  const ways: [string, () => string[]][] = [
    ['deploy --from', () => [RELAY, 'deploy', '--from', 'cdk.out']],
    ['node deploy.mjs', () => [join(built, 'deploy.mjs')]],
  ];

  it.each(ways)("%s deploys the folder's contents, and says what a first deployment needs", async (_, words) => {
    const child = startChild([...words(), '--import-existing-resources'], team, variables);
    expect(await child.ended()).toBe(0);
    expect(child.output()).toContain(`✓ stack ${NAME}`);
    expect(child.output()).toContain('enter the secrets with npx partner-relay --stage prod secrets set');
    expect(callsOf(join(built, 'aws-cdk'))).toEqual([
      'diff --app cdk.out',
      'deploy --app cdk.out --require-approval never --import-existing-resources',
    ]);
  });

  it.each(ways)('%s deploys nothing if there is an obstacle', async (_, words) => {
    account.stacks = { ...account.stacks, [NAME]: ran('0.0.9')[NAME] ?? '' };
    const child = startChild(words(), team, variables);
    expect(await child.ended()).toBe(1);
    expect(child.output()).toMatch(/✗ version .*npm install partner-relay@0\.1\.0\n/);
    expect(callsOf(join(built, 'aws-cdk'))).toEqual(['']);
  });

  it.each([
    ['a first deployment', {}, true],
    ['another deployment', { [parked]: 'OK' }, false],
  ] as const)('if %s fails without an earlier stack, it says what to delete', async (_, alarms, isSaid) => {
    account.alarms = alarms;
    writeFileSync(join(built, 'aws-cdk/bin/fails'), 'deploy');
    const child = startChild([join(built, 'deploy.mjs')], team, variables);
    expect(await child.ended()).toBe(1);
    expect(child.output()).toContain('partner-relay: cdk deploy ended with 1');
    const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
    const [, section = ''] = page.split('### A first deployment fails');
    const commands = [...section.matchAll(/^ {4}(aws cloudformation .*)$/gm)].map(([, command = '']) => command);
    expect(commands).toHaveLength(2);
    for (const command of commands) expect(child.output().includes(command)).toBe(isSaid);
  });

  it('deploy.mjs imports only modules of Node', () => {
    const imported: string[] = [];
    const look = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, source, callee } = node as Node & { source?: { value: string }; callee?: { name?: string } };
      if (/^Import|^Export/.test(type) && source) imported.push(source.value);
      if (callee?.name === 'require') imported.push('require');
      for (const value of Object.values(node)) look(value);
    };
    look(parse(readFileSync(join(built, 'deploy.mjs'), 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' }));
    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter((name) => !isBuiltin(name))).toEqual([]);
  });

  it.each([
    [['--from', 'src'], 'src has no deployment: npx partner-relay build --stage <stage> writes it'],
    [['--from', 'cdk.out', '--stage', 'dev'], 'cdk.out has the stage prod, not dev'],
    [[], 'name the stage of relay.config.ts with --stage'],
  ])('deploy refuses a wrong build, with the reason: %j', async (words, why) => {
    await expect(parseRelay({}, ['deploy', ...words])).rejects.toThrow(why);
  });

  it('a build does not change a folder with other files', async () => {
    const file = join('mine', 'automations', 'own.ts');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    const built = parseRelay({}, ['build', '--stage', 'prod', '--output', 'mine']);
    await expect(built).rejects.toThrow(`${file} was not written by build`);
    expect(existsSync(file)).toBe(true);
  });
});

/** Alarms, by name. */
type Alarms = NonNullable<Account['alarms']>;

const OK: Alarms = { [parked]: 'OK' };
const IS_NEW = /^these alarms are new: partner-relay-prod-heartbeat\. docs\/recovery\.md#roll-back/;
const EU = `${NAME}-eu-heartbeat`;

it.each<[string, { before: Alarms; after: Alarms; minute?: number; functionError?: string }, RegExp?]>([
  ['is quiet', { before: OK, after: OK }],
  ['has the alarms of before', { before: { [parked]: 'ALARM' }, after: { [parked]: 'ALARM' } }],
  ['has an alarm that is new', { before: { [beats]: 'OK' }, after: { [beats]: 'ALARM' } }, IS_NEW],
  ['has an alarm of a new kind', { before: OK, after: { [parked]: 'OK', [beats]: 'ALARM' } }, IS_NEW],
  ['has a neighbour with an alarm', { before: { [parked]: 'OK', [EU]: 'OK' }, after: { [EU]: 'ALARM' } }],
  ['does not tell its alarms for a minute', { before: OK, after: 'unavailable' }],
  [
    'does not tell its alarms at the end',
    { before: OK, after: 'unavailable', minute: 6 },
    /^CloudWatch did not list the alarms: it answered 503/,
  ],
  ['cannot check its credentials', { before: OK, after: {}, functionError: 'Unhandled' }, /^credential-check failed/],
  [
    'is deployed for the first time beside another',
    { before: { [EU]: 'OK' }, after: { [parked]: 'ALARM' }, functionError: 'x' },
  ],
])(
  'the deployment of a stage that %s ends accordingly',
  async (_, { before, after, minute = 3, functionError }, fault) => {
    Object.assign(account, { alarms: before, functionError });
    let minutes = 0;
    const pause = async (ms: number) => {
      minutes += ms / 60_000;
      // For one minute, in which one reading must see it.
      account.alarms = minutes > minute - 1 && minutes <= minute ? after : before;
    };
    const deployed = printed(() => deployBuilt(built, { isAsking: false, isImporting: false, pause }));
    if (fault) await expect(deployed).rejects.toThrow(fault);
    else await deployed;
    if (!functionError) expect(minutes).toBe(6);
  },
);

it('a build in GitHub Actions says which repository the role must trust, in both forms', () => {
  expect(said).toMatch(/acme\/relay, or, .*acme@12\/relay@34\. .*deploy-role --stage prod/);
});

it('deploy-role deploys the role of the stage, and reports wrong names', async () => {
  const role = (repository: string) =>
    startChild([RELAY, '--stage', 'prod', 'deploy-role', '--repository', repository], team, variables);
  const child = role('acme@12/relay@34');
  expect(await child.ended()).toBe(0);
  expect(callsOf(join(team, 'node_modules/aws-cdk'))).toEqual([
    expect.stringMatching(/^deploy --app \S+ partner-relay-prod-deploy-role\.template\.json$/),
  ]);
  const refused = role('acme/*');
  expect(await refused.ended()).toBe(1);
  expect(refused.output()).toMatch(/the repository 'acme\/\*' is not valid/);
});

it.each([
  ['cdk.json', ['deploy', '-e', '--context', 'stage=prod'], /^deploy -e --context stage=prod$/],
  [
    'nothing',
    ['ls'],
    /^ls --context stage=prod --app {2}".*" ".*infra\/app\.ts" --context @aws-cdk\S+Qualifier=relay$/,
  ],
  ['nothing', ['bootstrap'], /^bootstrap .* --toolkit-stack-name CDKToolkit-relay /],
  ['nothing', ['bootstrap', '--toolkit-stack-name', 'Own'], /^bootstrap --toolkit-stack-name Own .*--app(?!.*CDKTool)/],
])('cdk in a folder with %s says what the CDK needs to know: %j', async (has, words, called) => {
  const folder = newFolder();
  installCdk(folder);
  if (has === 'cdk.json') writeFileSync(join(folder, has), '{}');
  process.chdir(folder);
  await parseRelay({}, ['cdk', ...words, ...(has === 'cdk.json' ? [] : ['--stage', 'prod'])]);
  expect(callsOf(join(folder, 'node_modules/aws-cdk'))).toEqual([expect.stringMatching(called)]);
});

it.each(['build', 'deploy', 'deploy-role', 'cdk'])('%s says how to install the CDK', async (name) => {
  process.chdir(newFolder());
  const words = { 'deploy-role': ['--repository', 'acme/relay'], cdk: ['ls'] }[name] ?? [];
  const install = 'npm install --save-dev aws-cdk aws-cdk-lib constructs';
  await expect(parseRelay({}, ['--stage', 'prod', name, ...words])).rejects.toThrow(install);
});
