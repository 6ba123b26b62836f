import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { exampleEvent, type WantedEvent } from '../../local/examples/github-event.ts';
import { signedByGithub } from '../../local/examples/signed-request.ts';
import { listen } from '../../local/listen.ts';
import { type Child, startChild } from '../child.ts';
import { newFolder, withPackage } from '../new-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** Enough for a dozen processes on a busy machine. */
const WAITING = { timeout: 300_000 };

let folder: string;
let relays: Child[] = [];

async function killAll(): Promise<void> {
  await Promise.all(relays.map((one) => one.kill()));
  relays = [];
}

function mountSmallDisk(place: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', place], { stdio: 'ignore' });
}

/** Whether this process may mount: on Linux, with rights that root usually has. */
function mayMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'partner-relay-'));
  try {
    mountSmallDisk(place);
    execFileSync('umount', [place]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(place);
  }
}

/** This repository's configuration. The state is in another folder. */
const ofProject = { RELAY_CONFIG: join(root, 'relay.config.ts') };

/** Runs `npm start` in its own folder, on a free port. */
function start(environment: Record<string, string> = {}, args: readonly string[] = []): Child {
  const child = startChild([join(root, 'cli/bin.js'), 'start', '--verbose', ...args], folder, {
    ...ofProject,
    PORT: '0',
    ...environment,
  });
  relays.push(child);
  return child;
}

/** Posts an example event to a started relay, as GitHub does. */
async function post(started: Child, wanted: WantedEvent): Promise<Response> {
  const url = /webhook +(\S+)/.exec(started.output())?.[1] ?? '';
  const secret = await readFile(join(folder, '.relay/github-webhook.key'), 'utf8');
  const { event, payload } = exampleEvent(wanted);
  return fetch(url, { method: 'POST', ...signedByGithub(event, JSON.stringify(payload), secret) });
}

const relay = (...words: string[]) => relayIn({}, ...words);

async function relayIn(
  environment: Record<string, string>,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const env = { ...process.env, ...ofProject, ...environment };
    return { code: 0, ...(await run(process.execPath, [join(root, 'cli/bin.js'), ...words], { cwd: folder, env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

describe('npm start, in one relay', WAITING, () => {
  let started: Child;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'partner-relay-'));
    // A killed relay left this file, and another process has its process id by now.
    await mkdir(join(folder, '.relay'));
    const url = 'http://127.0.0.1:1';
    const note = { url, console: url, logFile: 'functions.log', variables: { AWS_ACCESS_KEY_ID: 'LOCALGONE' } };
    await writeFile(join(folder, '.relay/running.json'), JSON.stringify(note), { mode: 0o600 });
    started = start();
    await started.printed('npx partner-relay send issues');
  });
  afterAll(async () => {
    await killAll();
    await rm(folder, { recursive: true });
  });

  it('npm start shows how to send an event, and prints the steps of its job', async () => {
    const sent = await relay('send', 'issues', '--json');
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: 202, answer: { repeat: false } });
    await started.printed(
      /● Codertocat\/Hello-World#\d+ opened.*create-defect +defects\/create +done.*✓ .*created defect/s,
    );

    const [job] = JSON.parse((await relay('jobs', '--json')).stdout);
    expect(job).toMatchObject({ status: 'succeeded', automation: 'issue-to-defect' });
    expect((await relay('job', job.id)).stdout).toMatch(/create-defect +defects\/create +done/);
    const { data } = JSON.parse((await relay('call', 'defects/list', '{"per_page":1}')).stdout);
    expect(job.outcome).toBe(`created defect ${data[0].defect_id}`);
    expect((await relay('doctor')).stdout).toMatch(/✓ main: credentials/);
    const { checked } = JSON.parse((await relay('run', 'credential-check', '--json')).stdout);
    expect(checked).toContainEqual(expect.objectContaining({ secret: 'partner/main', verdict: 'good' }));
    await started.printed(/✓ partner\/main: validate returned/);
    const log = await readFile(join(folder, '.relay/sandbox/functions.log'), 'utf8');
    expect(log).not.toMatch(/sk_sandbox|sha256=|x-signature|accidently/);
  });

  it('relay send --wait waits for the jobs, and its exit code says how they ended', async () => {
    const wait = (...words: string[]) => relay('send', ...words, '--wait');
    expect(await wait('issues')).toMatchObject({ code: 0, stdout: expect.stringContaining('→ created defect') });
    expect(await wait('--body', '/done 999')).toMatchObject({ code: 1, stdout: expect.stringContaining('not done') });

    const url = /service +(\S+)/.exec(started.output())?.[1] ?? '';
    const headers = { authorization: /Bearer \w+/.exec(started.output())?.[0] ?? '' };
    const body = JSON.stringify({ kind: 'rate-limited', retryAfterSeconds: 60 });
    await fetch(`${url}/sandbox/faults`, { method: 'POST', headers, body });
    const { code, stdout } = await wait('issues', '--timeout', '1', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ status: 202, jobs: [{ status: 'waiting' }] });
  });

  it('npm start serves the console at the address that it prints, with a token', async () => {
    const address = /http:\S+#token=\S+/.exec(started.output())?.[0] ?? '';
    expect((await relay('console')).stdout.trim()).toBe(address);
    const { origin, hash } = new URL(address);
    const headers = { authorization: `Bearer ${hash.replace('#token=', '')}`, origin };
    const facts = await (await fetch(`${origin}/api/relay`, { headers })).json();
    expect(facts).toMatchObject({ name: 'this machine', operate: true, canTry: true });
    expect((await fetch(`${origin}/api/relay`)).status).toBe(401);
    expect((await fetch(origin)).headers.get('content-type')).toBe('text/html; charset=utf-8');
    // The console does not serve the relay's paths, and the answer to a wrong webhook path names the right ones.
    expect(await (await fetch(`${origin}/webhook`, { method: 'POST' })).text()).toContain('POST /github');
    expect((await fetch(`${origin}/github`, { method: 'POST', body: '{}' })).status).toBe(401);
  });

  it('npm start runs once in a folder, whose files only their owner can read, and stops when told to', async () => {
    const names = await readdir(join(folder, '.relay'), { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['running.json', 'sandbox/functions.log', 'sandbox/dynamodb/LOCK']));
    const modes = await Promise.all(
      ['', ...names].map(async (name) => {
        const found = await stat(join(folder, '.relay', name));
        return [name, (found.mode & 0o777) === (found.isDirectory() ? 0o700 : 0o600)];
      }),
    );
    expect(modes.filter(([, isOwnersOnly]) => !isOwnersOnly)).toEqual([]);

    const second = start();
    expect(await second.ended()).toBe(1);
    expect(second.output()).toMatch(/Partner Relay is already running here, at http/);
    started.process.kill('SIGINT');
    expect(await started.ended()).toBe(0);
  });
});

describe('npm start', WAITING, () => {
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(killAll);

  it.each([
    ['--help', 0, /PARTNER_BASE_URL/],
    ['--prot=8080', 1, /unknown option '--prot=8080'\s+Nothing was started. npx partner-relay start --help/],
    ['8080', 1, /too many arguments.*\s+Nothing was started/],
  ])('npm start accepts only --help, and starts nothing: %s', async (argument, code, said) => {
    const started = start({}, [argument]);
    await started.ended();
    expect(started.process.exitCode).toBe(code);
    expect(started.output()).toMatch(said);
    expect(await readdir(folder)).toEqual([]);
  });

  it('npm start says what to run first, before anything is installed', async () => {
    await mkdir(join(folder, 'cli'));
    for (const name of ['package.json', 'cli/bin.js', 'cli/which-node.js'])
      await copyFile(join(root, name), join(folder, name));
    for (const words of [['start'], ['exec', 'partner-relay', 'jobs']]) {
      await expect(run('npm', words, { cwd: folder })).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^Run npm ci first: /),
      });
    }
  });

  it('npm start continues after it was killed: with its jobs, secrets and addresses, and another token', async () => {
    const first = start();
    await first.printed('npx partner-relay send issues');
    await relay('send', 'slack', '/pm find login');
    await first.printed(/✓ .*found/i);
    expect(JSON.parse((await relay('messages', '--json')).stdout).length).toBeGreaterThan(0);
    const kept = (output: string) => output.match(/(secret|service) {2,}.*/g)?.join('\n');
    const slackPort = await readFile(join(folder, '.relay/sandbox/slack.port'), 'utf8');
    const url = /service +(\S+)/.exec(first.output())?.[1] ?? '';
    const fault = { kind: 'rate-limited', retryAfterSeconds: 1 };
    const headers = { authorization: /Bearer \w+/.exec(first.output())?.[0] ?? '' };
    await fetch(`${url}/sandbox/faults`, { method: 'POST', headers, body: JSON.stringify(fault) });
    await post(first, { event: 'issues' });
    await first.printed(/: continues (at|in)/);
    const [, token = ''] = /#token=(\S+)/.exec(first.output()) ?? [];
    await first.kill();

    const second = start();
    await second.printed('1 unfinished job of .relay/sandbox will continue');
    // A request that was signed before the restart goes to the same address.
    expect(kept(second.output())).toBe(kept(first.output()));
    expect(second.output()).toContain('(kept in .relay/github-webhook.key)');
    expect(await readFile(join(folder, '.relay/sandbox/slack.port'), 'utf8')).toBe(slackPort);
    await second.printed(/✓ .*created defect/);
    expect(second.output()).not.toContain(token);
    const [again] = /http:\S+(?=\/#token=)/.exec(second.output()) ?? [];
    const old = { authorization: `Bearer ${token}`, origin: `${again}` };
    expect((await fetch(`${again}/api/relay`, { headers: old })).status).toBe(401);
  });

  it('npm start gives each connection the secret that partner-relay secrets set keeps for it', async () => {
    const config = join(folder, 'two.config.ts');
    await writeFile(config, 'export default { connections: { main: {}, other: {} } };');
    const enter = (name: string, baseUrl: string) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [join(root, 'cli/bin.js'), 'secrets', 'set', `partner/${name}`], {
          cwd: folder,
        });
        child.once('exit', resolve);
        child.stdin.end(JSON.stringify({ baseUrl, apiKey: `pk_${name}`, secretKey: `sk_${name}` }));
      });
    expect(await enter('main', 'https://one.example.com')).toBe(0);
    const half = start({ RELAY_CONFIG: config });
    expect(await half.ended()).toBe(1);
    expect(half.output()).toContain('secrets set partner/other');
    expect(await enter('other', 'https://two.example.com')).toBe(0);
    const started = start({ RELAY_CONFIG: config });
    await started.printed('npx partner-relay send issues');
    expect(started.output()).toMatch(
      /one\.example\.com for main\n.*pk_main\n.*two\.example\.com for other\n.*pk_other/,
    );
    expect(started.output()).not.toContain('sk_');
  });

  it('npm start uses a valid configuration when it is saved, and says what needs a restart', async () => {
    const config = join(folder, 'own.config.ts');
    const labels = join(folder, 'labels.ts');
    const text = (rest = '') => `import { labels } from './labels.ts';
const issueToDefect = { labels, projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' };
export default {
  connections: { main: {} },
  github: { repositories: [{ name: 'Codertocat/Hello-World', connection: 'main', issueToDefect }] },
  ${rest}
};`;
    const write = (file: string, content: string) => writeFile(file, content);
    await write(labels, "export const labels = ['bug'];");
    await write(config, text());
    const started = start({ RELAY_CONFIG: config });
    await started.printed('npx partner-relay send issues');
    const send = async () => (await relay('send', 'issues', '--label', 'incident', '--wait')).stdout;
    expect(await send()).toContain('a new issue without the label bug');

    await write(labels, "export const labels = ['bug', 'incident'];");
    await started.printed('the configuration has changed; the relay uses it from now on');
    expect(await send()).toContain('→ created defect');

    // A fault, also in an imported file.
    await write(labels, "export const labels = 'incident';");
    await started.printed(
      /continues with the previous one\. own\.config\.ts has 1 fault:\n +github\.repositories\.0\.issueToDefect\.labels: /,
    );
    expect(await send()).toContain('→ created defect');
    await write(config, 'export default {');
    await started.printed(/own\.config\.ts:1: syntax error: Unexpected/);
    // People can list jobs meanwhile.
    expect((await relayIn({ RELAY_CONFIG: config }, 'jobs')).stdout).toContain('created defect');

    await write(labels, "export const labels = ['bug', 'incident'];");
    await write(config, text("slack: { connection: 'main' }, caFile: undefined,"));
    await started.printed(
      'restart the relay to apply this change: slack was added or removed, or slack.apiUrl changed',
    );
    await write(config, text());
    await started.printed('is valid again, and none of its settings has changed');
  });

  it("npm start gives a team's file the data beside it, and its webhook's secret, when they are saved", async () => {
    const config = join(withPackage(folder), 'own.config.ts');
    await writeFile(
      config,
      `const repositories = [{ name: 'acme/web', connection: 'main' }];
export default { connections: { main: {} }, github: { repositories } };`,
    );
    await mkdir(join(folder, 'automations'));
    await writeFile(
      join(folder, 'automations/pulls.ts'),
      `import { token, webhook } from 'partner-relay';
import * as z from 'partner-relay/zod';
const tags = z.array(z.object({ name: z.string() }));
export const on = webhook({
  verify: token({ header: 'x-token' }),
  body: z.object({ id: z.number() }),
  input: {},
  job: ({ id }) => ({ happened: [id], input: {} }),
});
export const run = async (_, { github, list }) => {
  const [{ name }] = await github('read', '/repos/acme/web/tags', tags);
  const users = await list('users', 'users/list', {}, (row) => row.name);
  return \`\${name} for \${users.at(-1)}\`;
};
`,
    );
    const own = { RELAY_CONFIG: config };
    const started = start({ ...own, GITHUB_TOKEN: '' });
    await started.printed('automations/pulls.ts: on POST /hooks/pulls');
    const { origin } = new URL(/webhook +(\S+)/.exec(started.output())?.[1] ?? '');
    const headers = { 'x-token': 'a-secret-of-16-and-more' };
    const post = async (id: number) =>
      (await fetch(`${origin}/hooks/pulls`, { method: 'POST', headers, body: JSON.stringify({ id }) })).status;
    expect(await post(1)).toBe(503);
    const entered = execFileSync(process.execPath, [join(root, 'cli/bin.js'), 'secrets', 'set', 'hooks/pulls'], {
      cwd: folder,
      env: { ...process.env, ...own },
      input: headers['x-token'],
    });
    expect(String(entered)).toContain('The relay needs no restart.');
    await started.printed('Webhook secrets changed; the relay has read them again.');
    expect(await post(2)).toBe(200);
    await started.printed(
      /GitHub refuses GET \/repos\/acme\/web\/tags .*: this is GitHub's stand-in, which does not know that/,
    );

    const given = join(folder, 'automations/pulls.given.json');
    await writeFile(given, '{ "githb": {} }');
    await started.printed("automations/pulls.given.json: githb: this name is unknown; did you mean 'github'?");
    await writeFile(
      given,
      '{ "github": { "/repos/acme/web/tags": [{ "name": "v7" }] }, "users": [{ "name": "Ada" }] }',
    );
    await expect
      .poll(async () => {
        await post(Date.now());
        return started.output();
      })
      .toContain('v7 for Ada');
  });

  it('npm start has a stand-in for GitHub, which shows comments, has the issues for a backfill, and alone gets its token', async () => {
    const asked: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.url);
      response.end();
    });
    const { url: apiUrl, close } = await listen(elsewhere);
    onTestFinished(close);
    const config = join(folder, 'own.config.ts');
    const text = (apiUrl: string) => `const issueToDefect = {
  labels: ['bug'], projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
};
const repositories = [
  { name: 'Codertocat/Hello-World', connection: 'main', issueToDefect, completeChecklistItem: true },
];
export default { connections: { main: {} }, github: { apiUrl: '${apiUrl}', repositories } };`;
    await writeFile(config, text('https://api.github.com'));
    const own = { RELAY_CONFIG: config };
    const started = start({ ...own, GITHUB_TOKEN: '' });
    await started.printed(/comments +shown here; set GITHUB_TOKEN/);
    const printed = async (...words: string[]) => (await relayIn(own, ...words)).stdout;

    expect(await printed('send', 'issues', '--wait')).toContain('→ created defect');
    await started.printed(/» comment on Codertocat\/Hello-World#\d+: Created defect `[\w-]+` from this issue\.\n/);
    // A comment by a member, whose role the relay asks GitHub for, on an issue that the relay does not know.
    const { event, payload } = exampleEvent({ body: '/done 101', issue: 7 });
    const { comment } = payload as { comment: object };
    const said = { ...payload, comment: { ...comment, author_association: 'MEMBER' } };
    await writeFile(join(folder, 'comment.json'), JSON.stringify(said));
    expect(await printed('send', event, '--file', 'comment.json', '--wait')).toContain(
      '→ completed checklist item 101',
    );
    await started.printed(/» comment on Codertocat\/Hello-World#7: ✅ Completed checklist item 101/);
    await post(started, { event: 'issues', action: 'assigned', issue: 8 });
    for (const action of ['assigned', 'deleted']) await post(started, { event: 'issues', action, issue: 9 });

    // A setting that only a start reads must not send the token to another address.
    await writeFile(config, text(apiUrl));
    await started.printed('restart the relay to apply this change: github.apiUrl changed');
    const plan = await printed('backfill', 'codertocat/hello-world');
    expect(plan).toContain('Without credentials for GitHub, these are the issues that were sent to this relay');
    expect(plan).toMatch(/3 issues to take .*#7 .*: create, .*defects: 2 to create, 0 to update; .*without a call: 1/s);
    expect(await printed('issue', 'Codertocat/Hello-World#8')).toMatch(/is +without a defect/);
    expect(await printed('doctor')).toMatch(/\? github: credentials +a stand-in takes/);
    expect((await relayIn(own, 'github-deliveries', '--repo', 'a/b')).stderr).toContain(
      'has no credentials for GitHub',
    );
    expect(await printed('run', 'credential-check')).toMatch(/\? github +a stand-in takes/);
    await printed('backfill', 'Codertocat/Hello-World', '--go', '--comment');
    await started.printed(/» comment on Codertocat\/Hello-World#7: Created defect/);
    await started.printed(/» comment on Codertocat\/Hello-World#8: Created defect/);
    expect(asked).toEqual([]);
  });

  it.each([
    ['.relay', []],
    ['.relay/sandbox/dynamodb/CURRENT', ['.relay']],
  ])('npm start notices that its state was deleted, says so, and accepts nothing more: %s', async (path, left) => {
    const started = start();
    await started.printed('npx partner-relay send issues');
    const url = /webhook +(\S+)/.exec(started.output())?.[1] ?? '';
    await rm(join(folder, path), { recursive: true });
    await started.printed(/\.relay\/sandbox was deleted while the relay ran: stop the relay, and start it again/);
    const answer = await fetch(url, { method: 'POST', body: '{}' });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('was deleted')]);
    started.process.kill('SIGINT');
    expect(await started.ended()).toBe(0);
    expect(await readdir(folder)).toEqual(left);
  });

  it.skipIf(!mayMount())(
    'npm start loses nothing that it accepted when the disk is full, and says so in a sentence',
    async () => {
      mountSmallDisk(folder);
      try {
        const first = start();
        await first.printed('npx partner-relay send issues');
        const fill = join(folder, 'fill');
        const { bavail, bsize } = await statfs(folder);
        await writeFile(fill, Buffer.alloc(Number(bavail * bsize) - 200 * 1024));
        const taken: string[] = [];
        let isFull = false;
        const postUntilFull = async () => {
          while (!isFull) {
            const answer = await post(first, { event: 'issues' });
            if (answer.status === 202) taken.push(...((await answer.json()) as { jobs: string[] }).jobs);
            else isFull = answer.status === 503 && (await answer.text()).includes('the disk is full');
          }
        };
        // In parallel, so that some writes come after the one that fails.
        await Promise.all(Array.from({ length: 8 }, postUntilFull));
        await first.printed('the disk is full. Everything that was accepted is kept: free some space');
        expect(first.output()).not.toMatch(/\n +at |remove/);
        expect((await relay('jobs')).stderr).toMatch(/accepts nothing: the disk is full/);
        await first.kill();

        const refused = start();
        expect(await refused.ended()).toBe(1);
        expect(refused.output()).toMatch(/the disk is full|free some space, and start again/);
        expect(refused.output()).not.toMatch(/\n +at |remove/);

        await rm(fill);
        const second = start();
        await second.printed('npx partner-relay send issues');
        const kept = JSON.parse((await relay('jobs', '--json', '--limit', '1000')).stdout) as { id: string }[];
        expect(taken.length).toBeGreaterThan(0);
        expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(taken));
        await second.kill();
      } finally {
        await Promise.all(relays.map((one) => one.kill()));
        execFileSync('umount', ['--lazy', folder]);
      }
    },
  );

  it.each([
    ['running.json', '{', /^\.relay\/running\.json is damaged; .*remove the file/m],
    ['sandbox/sandbox.port', 'http', /^\.relay\/sandbox\/sandbox\.port is damaged: .*remove it/m],
    ['sandbox/grants.key', '', /^\.relay\/sandbox\/grants\.key is damaged: .*people link their accounts again/m],
    ['sandbox/version.json', '{', /^\.relay\/sandbox\/version\.json is damaged: .*remove it/m],
    [
      'sandbox/version.json',
      '{"version":"0.0.9","form":1}',
      /^\.relay\/sandbox: 0\.0\.9 ran here, .*npm install partner-relay@0\.1\.0$/m,
    ],
    [
      'sandbox/dynamodb',
      'a file',
      /^\.relay\/sandbox\/dynamodb cannot be opened: .*remove \.relay\/sandbox\/dynamodb/m,
    ],
  ])('npm start names a file that it cannot use, and says what to do: %s', async (name, text, expected) => {
    await mkdir(join(folder, '.relay/sandbox'), { recursive: true });
    await writeFile(join(folder, '.relay', name), text);
    const started = start();
    expect(await started.ended()).toBe(1);
    expect(started.output()).toMatch(expected);
    expect(started.output()).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['some variables', { PARTNER_BASE_URL: 'https://pm.example.com' }, /PARTNER_API_KEY and PARTNER_SECRET_KEY must/],
    ['a configuration that does not exist', { RELAY_CONFIG: 'nope.ts' }, /no configuration: nope\.ts does not exist/],
    ['a port that is no port', { PORT: '99999' }, /PORT is '99999'; expected a number from 0 to 65535/],
  ])('npm start stops at once with the reason: %s', async (_, environment, reason) => {
    const started = start(environment);
    const code = await started.ended();
    expect(code).toBe(1);
    expect(started.output()).toMatch(reason);
  });
});
