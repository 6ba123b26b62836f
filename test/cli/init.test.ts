import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstConfig } from '../../cli/init/config-text.ts';
import { prefilledSlackUrl } from '../../cli/init/create-slack-app.ts';
import { completeFolder } from '../../cli/init/team-folder.ts';
import { defaultKey, type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { type Child, startChild } from '../child.ts';
import { privateKey } from '../github-identity.ts';
import { type HttpStandIn, startHttpStandIn } from '../http-stand-in.ts';
import { startMutated, takesAtMost } from '../mutated-service.ts';
import { newFolder, withPackage } from '../new-folder.ts';
import { PROJECT } from '../relay.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
let config: string;
let service: Sandbox;
let github: HttpStandIn;
let slack: HttpStandIn;
/** Slack's answer to the manifest. */
let slackAnswer: object;

beforeEach(async () => {
  folder = withPackage(newFolder());
  config = join(folder, 'relay.config.ts');
  service = await startSandbox();
  slackAnswer = { ok: true, app_id: 'A1', credentials: { signing_secret: 'sign_secret' } };
  const app = { id: 77, pem: privateKey, webhook_secret: 'wh_secret', html_url: 'https://github.com/apps/relay' };
  github = await startHttpStandIn(({ route }) => {
    if (route === 'POST /app-manifests/code-1/conversions') return { status: 201, body: app };
    return route === 'GET /app' ? { status: 200, body: { id: 77, slug: 'relay' } } : { status: 404, body: {} };
  });
  const user = { ok: true, url: 'https://acme.slack.com/', user: 'relay' };
  slack = await startHttpStandIn(({ route }) => ({
    status: 200,
    body: route === 'POST /apps.manifest.create' ? slackAnswer : user,
  }));
});
afterEach(() => service.close());

const ofService = () => ({
  PARTNER_BASE_URL: service.url,
  PARTNER_API_KEY: defaultKey.apiKey,
  PARTNER_SECRET_KEY: defaultKey.secretKey,
});

const command = [join(root, 'cli/bin.js'), 'init'];

/** Runs `partner-relay init` without a terminal, in its own folder. */
const begin = (words: string[], variables: Record<string, string> = {}) =>
  startChild([...command, '--no-browser', ...words], folder, { RELAY_CONFIG: config, ...variables });

async function init(...given: Parameters<typeof begin>) {
  const child = begin(...given);
  return { code: await child.ended(), output: child.output() };
}

/** Runs a command in a terminal, with Python. */
const TERMINAL = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)';

/** Runs `partner-relay init` at a terminal. A person answers each question after it appears. */
async function initAtTerminal(words: string[], ...answers: [question: string, answer: string][]) {
  const child = spawn('python3', ['-c', TERMINAL, process.execPath, ...command, ...words], {
    cwd: folder,
    env: { ...process.env, RELAY_CONFIG: config },
  });
  let output = '';
  let asked = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    asked += chunk;
    const [[question, answer] = []] = answers;
    if (question === undefined || !asked.includes(question)) return;
    answers.shift();
    asked = '';
    child.stdin.write(`${answer}\n`);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

const unescaped = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** Acts as a browser and as GitHub: reads the form of the page, and returns with a code. */
async function confirm(child: Child): Promise<{ action: URL; manifest: { redirect_url: string } }> {
  const [page = ''] = await child.printed(/http:\/\/127\.0\.0\.1:\d+\/[\w-]{20,}(?=\n)/);
  const html = await (await fetch(page)).text();
  const action = new URL(unescaped(/action="([^"]+)"/.exec(html)?.[1] ?? ''));
  const manifest = JSON.parse(unescaped(/value="([^"]+)"/.exec(html)?.[1] ?? ''));
  const forged = await fetch(`${manifest.redirect_url}?code=code-2&state=forged`);
  expect(forged.status).toBe(404);
  await fetch(`${manifest.redirect_url}?code=code-1&state=${action.searchParams.get('state')}`);
  await child.ended();
  return { action, manifest };
}

const secrets = async () => JSON.parse(await readFile(join(folder, '.relay/secrets.json'), 'utf8'));

const textsOf = (...names: string[]) => Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));

describe('relay init', () => {
  it('an empty folder with an npm package gets everything that a team needs, and passes its tests', async () => {
    await writeFile(join(folder, 'package.json'), '{\n  "dependencies": {\n    "partner-relay": "^0.1.0"\n  }\n}\n');
    await writeFile(join(folder, '.gitignore'), 'mine\n');
    const project = '11111111-2222-4333-8444-555555555555';
    const named = ['--repo', 'acme/web', '--label', "it's broken", '--project', project];
    const { code, output } = await init([...named, '--no-slack', '--no-github-app']);
    expect(code).toBe(0);
    expect(output).toContain('Left as they were: .gitignore.');
    expect((await readdir(folder)).toSorted()).toEqual([
      ...['.gitignore', 'node_modules', 'package.json', 'relay.config.test.ts', 'relay.config.ts', 'tsconfig.json'],
    ]);
    expect(await textsOf('package.json', '.gitignore')).toEqual([
      '{\n  "type": "module",\n  "dependencies": {\n    "partner-relay": "^0.1.0"\n  }\n}\n',
      'mine\n',
    ]);
    for (const [words, expected] of [
      [['test'], '3 tests, all as expected.'],
      [['config', 'check'], 'The configuration is valid.'],
    ] as const) {
      const child = startChild([join(root, 'cli/bin.js'), ...words], folder);
      expect(await child.ended()).toBe(0);
      expect(child.output()).toContain(expected);
    }
  });

  const NAMED = '"name": "a", "files": ["b"]';
  const ofType = (type: string) => `{\n  "jest": {\n    "type": "commonjs"\n  },\n  "type": "${type}"\n}\n`;
  const inOneLine = '{ "jest": { "type": "commonjs" }, "type": "commonjs" }';
  it.each([
    ['none', undefined, '{\n  "private": true,\n  "type": "module"\n}\n'],
    ['an empty one', '{}\n', '{"type": "module"}\n'],
    ['one of a monorepo', `{\r\n\t${NAMED}\r\n}`, `{\r\n\t"type": "module",\r\n\t${NAMED}\r\n}`],
    ['one of npm init', ofType('commonjs'), ofType('module')],
    ['one of another form', inOneLine, ofType('module')],
    ['one that is good', '{ "type":"module" }', '{ "type":"module" }'],
  ])('package.json becomes an ES module, and is otherwise unchanged: %s', async (_, before, after) => {
    if (before !== undefined) await writeFile(join(folder, 'package.json'), before);
    completeFolder(folder, '', () => {});
    expect(await textsOf('package.json')).toEqual([after]);
  });

  it('a configuration in JSON is never written as TypeScript', async () => {
    const words = ['--repo', 'acme/web', '--no-slack', '--no-github-app', '--overwrite'];
    const { code, output } = await init(words, { RELAY_CONFIG: 'relay.json' });
    expect(output).toContain('relay.json is JSON, and init writes TypeScript');
    expect(code).toBe(1);
    expect(await readdir(folder)).toEqual(['node_modules']);
  });

  it('in a folder without the package, init says what to install first', async () => {
    await rm(join(folder, 'node_modules'), { recursive: true });
    const { code, output } = await init(['--repo', 'acme/web', '--no-slack', '--no-github-app']);
    expect(output).toMatch(
      /partner-relay is not installed in \/.*: make the package .*npm install <its \.tgz file> there/,
    );
    expect(code).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  const WITHOUT = ['start', 'send issues', 'config check', 'test', 'jobs'];
  it.each(WITHOUT)('%s suggests init in a folder without it', async (words) => {
    const child = startChild([join(root, 'cli/bin.js'), ...words.split(' ')], folder);
    expect(await child.ended()).toBe(1);
    const expected = `there is no relay.config.ts in ${folder} or above it: npx partner-relay init writes one`;
    expect(child.output()).toContain(expected);
  });

  it("init writes the configuration and the secrets, creates both apps, and ends with doctor's findings", async () => {
    const child = begin(
      [
        ...['--repo', 'acme/web', '--project', PROJECT, '--slack', '--github-app', '--org', 'acme'],
        ...['--url', 'https://relay.example.com', '--github-api', github.url, '--slack-api', slack.url],
      ],
      { ...ofService(), SLACK_CONFIG_TOKEN: 'xoxe.1' },
    );
    const { action, manifest } = await confirm(child);
    const output = child.output();
    expect(action.href).toMatch(/^https:\/\/github\.com\/organizations\/acme\/settings\/apps\/new\?state=/);
    expect(manifest).toMatchObject({ hook_attributes: { url: 'https://relay.example.com/github', active: true } });
    expect(await secrets()).toEqual({
      'partner/main': { baseUrl: service.url, apiKey: defaultKey.apiKey, secretKey: defaultKey.secretKey },
      'github-webhook': { webhookSecret: 'wh_secret' },
      github: { appId: '77', privateKey },
    });
    const [asked] = slack.asked;
    expect(asked?.headers.authorization).toBe('Bearer xoxe.1');
    const sent = JSON.parse(new URLSearchParams(asked?.body).get('manifest') ?? '');
    expect(sent.settings.interactivity.request_url).toBe('https://relay.example.com/slack');
    expect(output).toMatch(/✓ main: credentials/);
    expect(output).toMatch(/✗ github: credentials +the GitHub App is not installed there/);
    expect(output).toContain('GitHub App on your repositories: https://github.com/apps/relay/installations/new');
    expect(output).toContain('install the Slack app: https://api.slack.com/apps/A1/install-on-team');
    expect(output).not.toMatch(/wh_secret|sign_secret|PRIVATE KEY|sk_sandbox/);
    expect(await readFile(config, 'utf8')).toContain("name: 'acme/web'");
  });

  it('an existing configuration is replaced only if a person says so, and the old one is kept', async () => {
    await writeFile(config, 'export default { connections: { mine: {} } };');
    const words = ['--repo', 'acme/web', '--no-slack', '--no-github-app'];
    const refused = await init(words);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('use --overwrite to replace it, or --keep');
    expect(await readFile(config, 'utf8')).toContain('mine');

    await writeFile(config, 'export default { connections: { mine: {}, other: {} } };');
    expect((await init(['--keep', '--no-github-app'])).output).toContain('enter the secret of each connection');
    await writeFile(config, 'export default { connections: { mine: {} } };');
    const kept = await init(['--keep', '--no-github-app'], ofService());
    expect(kept.output).toMatch(/✓ mine: credentials/);
    expect(Object.keys(await secrets())).toEqual(['partner/mine']);
    expect(await readFile(config, 'utf8')).toContain('mine');

    await writeFile(join(folder, 'relay.config.test.ts'), 'tests of mine');
    expect((await init([...words, '--overwrite'])).code).toBe(0);
    expect(await readFile(config, 'utf8')).toContain('acme/web');
    const old = ['.relay/relay.config.old.ts', '.relay/relay.config.test.old.ts'];
    expect(await textsOf(...old)).toEqual([expect.stringContaining('mine'), 'tests of mine']);
    expect(await textsOf('relay.config.test.ts')).toEqual([expect.stringContaining('defineTests')]);
    expect((await init([...words, '--overwrite'])).output).toContain('kept in .relay/relay.config.old-2.ts');
    expect(await textsOf(...old)).toEqual([expect.stringContaining('mine'), 'tests of mine']);
  });

  it.each([
    ['no repository', [], /name the repository: --repo owner\/name/],
    ['no repository of that form', ['--repo', 'web', '--project', PROJECT], /name: expected owner\/name, found 'web'/],
    [
      'no project of several',
      ['--repo', 'acme/web'],
      /name the project of the defects: --project <id>\. .*\n {2}[\w-]{36} /,
    ],
  ])('without a terminal, init names the missing options, and writes nothing: %s', async (_, words, expected) => {
    // The command also reads the projects of an instance with small pages.
    const smaller = { ...ofService(), PARTNER_BASE_URL: await startMutated(service.url, takesAtMost(50)) };
    const { code, output } = await init([...words, '--no-slack', '--no-github-app'], smaller);
    expect(output).toMatch(expected);
    expect(code).toBe(1);
    expect(await readdir(folder)).toEqual(['node_modules']);
  });

  it('at a terminal, init asks again after invalid answers, keeps the others, and leaves an existing configuration', async () => {
    const { code, output } = await initAtTerminal(
      ['--no-github-app'],
      ['Base URL', 'ftp://pm.example.com'],
      ['Base URL', 'http://127.0.0.1:9'],
      ['API key', 'pk_live_1'],
      ['Secret key', 'b'],
      ['Base URL', ''],
      ['Repository', 'web'],
      ['Repository', 'acme/web'],
      ['Labels', 'bug, incident'],
      ['Use Slack?', 'perhaps'],
      ['Use Slack?', 'y'],
      ['Public https', 'relay.example.com'],
      ['Public https', ''],
    );
    expect(output).toContain('base URL must begin with https://');
    expect(output).toMatch(/The service cannot be used: .*cannot be reached \(bad port\).* Enter it again/);
    expect(output).toContain("expected owner/name, found 'web'");
    expect(output).toContain('expected y or n');
    expect(output).toContain("is 'relay.example.com'; expected the public address of the relay");
    expect(code).toBe(0);
    const written = await readFile(config, 'utf8');
    expect(written).toContain("name: 'acme/web'");
    expect(written).toContain("labels: ['bug', 'incident']");
    const left = await initAtTerminal(['--repo', 'acme/web'], ['Replace it?', 'n']);
    expect(left.output).toContain('is left as it is; to do the rest with it, run npx partner-relay init --keep');
  });

  it("without a public address, the App's webhook is inactive, and Slack comes later", async () => {
    const child = begin(['--repo', 'acme/web', '--slack', '--github-app', '--github-api', github.url]);
    expect((await confirm(child)).manifest).toMatchObject({ hook_attributes: { active: false } });
    expect(child.output()).toContain('npx partner-relay init --keep --slack --url https://…');
    expect(await child.ended()).toBe(0);
  });

  it('a manifest that Slack refuses is reported with the fields that Slack names', async () => {
    const errors = [{ message: 'no such scope', pointer: '/oauth_config' }];
    slackAnswer = { ok: false, error: 'invalid_manifest', errors };
    const words = ['--repo', 'acme/web', '--slack', '--no-github-app', '--url', 'https://relay.example.com'];
    const { code, output } = await init([...words, '--slack-api', slack.url], { SLACK_CONFIG_TOKEN: 'xoxe.1' });
    expect(output).toMatch(/Slack does not create the app: invalid_manifest\n {2}\/oauth_config no such scope/);
    expect(code).toBe(1);
  });

  it("the address of Slack's page contains the manifest", () => {
    const { searchParams } = new URL(prefilledSlackUrl({ name: 'a&b' }));
    expect(JSON.parse(searchParams.get('manifest_json') ?? '')).toEqual({ name: 'a&b' });
  });

  it('typed answers become text in the configuration, whatever they contain', () => {
    const hostile = "'], x: process.exit() //\n`\\";
    const text = firstConfig({ repository: hostile, labels: [hostile], projectId: hostile, withSlack: true });
    const literal = text.slice(text.indexOf('defineConfig(') + 'defineConfig('.length, text.lastIndexOf(')'));
    const [repository] = new Function(`return (${literal})`)().github.repositories;
    expect(repository).toMatchObject({ name: hostile, issueToDefect: { labels: [hostile], projectId: hostile } });
  });
});
