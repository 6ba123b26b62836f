import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { foundBlocks } from '../../lib/platforms/slack/found.ts';
import { codeOn, LinkBrowser, linkUrl } from '../account-link-browser.ts';
import { type Commands, linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { commentPayload, mergedPayload } from '../kill/github-payloads.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import {
  ask,
  command,
  GENERAL,
  lastView,
  MIRA,
  PLATFORM,
  press,
  type SlackAnswer,
  submit,
  TOMASZ,
  told,
} from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

type Fields = Record<string, unknown>;
interface McpAnswer extends Fields {
  result?: {
    tools?: { name: string; description?: string; inputSchema: { properties: Fields }; annotations?: Fields }[];
  } & Fields;
}
/** Changes what the endpoint answers to a call of a tool, or to the listing of the tools. */
type Alter = (
  answer: McpAnswer,
  asked: { method: string; params?: { name?: string; arguments?: Fields } },
) => McpAnswer | Response | Promise<McpAnswer | Response>;

let relay: TestRelay;
let alter: Alter;
afterEach(() => relay.close());

async function fetchAltered(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  if (!String(input).endsWith('/mcp/partner') || !answer.headers.get('content-type')?.includes('json')) return answer;
  const altered = await alter(JSON.parse(await answer.text()), JSON.parse(String(init?.body)));
  if (altered instanceof Response) return altered;
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  return new Response(JSON.stringify(altered), { status: answer.status, headers });
}

async function start({
  accounts = 'offered' as 'offered' | 'required',
  isLinked = true,
  commands = sandboxCommands(),
} = {}): Promise<void> {
  alter = (answer) => answer;
  relay = await startRelay({
    config: exampleConfig({}, { connection: { mcp: { accounts, commands } } }),
    sandbox: { mcp: { enabled: true, toolsPerPage: 100 } },
    runtime: { fetch: fetchAltered },
  });
  if (isLinked) await linkAccount(relay);
}

describe('where a linked account is required', () => {
  const LOG = `/log 1h ${CHECKOUT} from GitHub`;
  /** @param slack whom `people` says the author of the comment is in Slack */
  async function startWithGithub(
    slack: string | undefined,
    commands: Commands = sandboxCommands(),
  ): Promise<GithubApi> {
    const github = await startGithubApi(() => relay.clock.now);
    onTestFinished(() => github.close());
    github.written.set(600_001, LOG);
    const people = [{ github: 'Codertocat', ...(slack && { slack }), email: 'mira.novak@example.com' }];
    const connection = { mcp: { accounts: 'required' as const, commands } };
    const config = exampleConfig({}, { connection, people, apiUrl: github.url });
    relay = await startRelay({ config, sandbox: { mcp: { enabled: true } }, github: { token: 'ghp_test' } });
    return github;
  }

  it.each([
    ['who is known in Slack', MIRA, sandboxCommands(), 'Link your account first, in Slack'],
    ['whom the relay does not know', undefined, sandboxCommands(), 'to add you to people'],
    ['although no tool serves the command', MIRA, {}, 'Link your account first, in Slack'],
  ])('a comment on GitHub needs one of its author, %s', async (_, slack, commands, said) => {
    const github = await startWithGithub(slack, commands);
    await relay.post('issue_comment', commentPayload(1, LOG));
    await relay.work();
    expect(github.comments.at(-1)?.body).toContain(said);
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it('a comment is not carried out through the key where no tool serves it', async () => {
    const github = await startWithGithub(MIRA, {});
    await linkAccount(relay);
    await relay.post('issue_comment', commentPayload(1, LOG));
    await relay.work();
    expect(github.comments.at(-1)?.body).toContain('Log cannot be used here: people act in their own name');
    expect(relay.sandbox.requests).toBe(0);
  });

  it('nothing that a person does goes through the key where no tool serves it', async () => {
    await start({ accounts: 'required', commands: {} });
    for (const text of [
      ...['find checkout', 'done 101', 'undo 101', `log 1h ${CHECKOUT}`, 'defect Login fails', 'defect'],
    ]) {
      const { text: said } = await command(relay, text, { channelId: PLATFORM });
      expect(said).toMatch(/cannot be used here: people act in their own name/);
    }
    await relay.workToTheEnd();
    expect([await relay.jobs(), relay.sandbox.requests]).toEqual([[], 0]);
  });

  it('forms list nothing that the key sees', async () => {
    await start({ accounts: 'required' });
    expect((await command(relay, 'defect', { channelId: GENERAL })).text).toContain('cannot list your projects');
    await command(relay, 'defect', { channelId: PLATFORM });
    expect(JSON.stringify(lastView(relay))).toContain('The project of this channel');
    await submit(relay, lastView(relay), { project: PROJECT, title: 'Login fails' });
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'Login fails', project_id: PROJECT });
    const blocks = foundBlocks('web', { connection: 'main' }, [], [{ id: PROJECT, name: 'Web' }]);
    await press(relay, { blocks: blocks as SlackAnswer['blocks'] }, 'Log time');
    await relay.workToTheEnd();
    await submit(relay, lastView(relay), { another: 'Release checkout 2.4', duration: '1h' });
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain('Logged 1h on Release checkout 2.4 as you');
    expect(relay.sandbox.requests).toBe(0);
  });

  it('a comment whose author has a dead link is answered with how to link', async () => {
    const github = await startWithGithub(MIRA);
    await linkAccount(relay);
    relay.sandbox.mcp.revokeGrants();
    relay.clock.now += 2 * 3_600_000;
    await relay.post('issue_comment', commentPayload(1, LOG));
    await relay.work();
    expect(github.comments.at(-1)?.body).toContain('Link your account in Slack with the command link, and ask again');
    expect(await relay.jobs('not-done')).toHaveLength(1);
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it('a comment that GitHub does not confirm is not carried out', async () => {
    const github = await startWithGithub(MIRA);
    await linkAccount(relay);
    github.written.clear();
    await relay.post('issue_comment', commentPayload(1, LOG));
    await relay.work();
    expect(github.comments.at(-1)?.body).toContain('the relay may not read on GitHub who wrote this');
    expect(relay.sandbox.data.timelogs).toHaveLength(3);
  });

  it('what no person asks for goes on without one', async () => {
    await startWithGithub(MIRA);
    const merged = mergedPayload(7, 'Completes checklist item 103');
    const pull = { ...(merged.pull_request as Fields), merged_at: '2026-11-20T09:00:00Z' };
    await relay.post('pull_request', { ...merged, pull_request: pull });
    await relay.workToTheEnd();
    const item = relay.sandbox.data.checklistItems.find(({ item_id }) => item_id === 103);
    expect(item?.is_completed).toBe(true);
  });
});

it('one browser holds links of several people and connections, and a code is tried on each of them', async () => {
  const mcp = { accounts: 'offered' } as const;
  const config = defineConfig({
    connections: { main: { mcp }, other: { mcp } },
    github: { repositories: [] },
    slack: { connection: 'main', channels: { [PLATFORM]: { connection: 'other' } } },
  });
  relay = await startRelay({ config, sandbox: { mcp: { enabled: true } } });
  const browser = new LinkBrowser();
  const asked = [{}, { channelId: PLATFORM }, { userId: TOMASZ }];
  const callbacks: URL[] = [];
  for (const one of asked) callbacks.push(await browser.consent(await linkUrl(relay, one), relay.sandbox));
  const codes: string[] = [];
  for (const callback of callbacks.toReversed()) codes.unshift(codeOn(await browser.open(callback)));
  expect(browser.cookies.size).toBe(0);
  const said = [];
  // Each is typed where `main` is meant.
  for (const [index, code] of codes.entries()) {
    said.push((await command(relay, `link ${code}`, { ...asked[index], channelId: GENERAL })).text);
  }
  expect(said).toEqual(Array(3).fill(expect.stringContaining('Your account is linked')));
});

it('the way to the service begins on the own start page only', async () => {
  await start({ isLinked: false });
  const [page = '', ticket = ''] = (await linkUrl(relay)).split('?ticket=');
  const body = new URLSearchParams({ ticket: decodeURIComponent(ticket) });
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const answer = await fetch(page, { method: 'POST', redirect: 'manual', body, headers });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('set-cookie')).toBe(null);
});

it.each([
  ['find checkout', 'succeeded'],
  ['log 1h "checkout page"', 'not-done'],
])('results with huge titles do not stop a search: %s', async (text, status) => {
  await start();
  alter = (answer, { params }) => {
    if (params?.name !== 'find_tasks') return answer;
    const tasks = [1, 2].map((task) => ({ task, title: 'x'.repeat(600_000) }));
    return { ...answer, result: { structuredContent: { tasks }, content: [{ type: 'text', text: 'found' }] } };
  };
  await command(relay, text, { channelId: PLATFORM });
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([{ status }]);
});

it('marks that reverse text do not reach Slack from a tool', async () => {
  await start();
  alter = (answer, { params }) =>
    params?.name === 'log_time'
      ? { ...answer, result: { content: [{ type: 'text', text: 'no \u202eevil\u0007' }], isError: true } }
      : answer;
  await ask(relay, `log 1h ${CHECKOUT}`);
  expect(told(relay).at(-1)).toContain('no evil');
});

it.each([
  [
    'lacks a scope',
    ...[403, { code: -32001, message: 'needs mcp:checklists.write' }, 0],
    /Completed checklist items 102 and 103 as you, but not all. Checklist item 101: .*Link your account in Slack/,
  ],
  [
    'meets a failure',
    ...[503, { code: -32603, message: 'not now' }, 1],
    /Completed checklist items 101, 102 and 103 as you/,
  ],
] as const)('an item whose call %s does not hold up the other ones', async (_, status, error, waiting, said) => {
  const { done, ...others } = sandboxCommands();
  const commands = { ...others, ...(done && { done: { ...done, arguments: { items: ['{item}'], done: true } } }) };
  await start({ commands });
  let refused = 0;
  alter = (answer, { method, params }) => {
    if (method !== 'tools/call' || !JSON.stringify(params?.arguments).includes('101') || refused > 2) return answer;
    refused += 1;
    return Response.json({ jsonrpc: '2.0', id: answer.id, error }, { status });
  };
  await command(relay, 'done 101 102 103');
  await relay.work();
  const isDone = (id: number) => relay.sandbox.data.checklistItems.find(({ item_id }) => item_id === id)?.is_completed;
  expect([isDone(102), isDone(103)]).toEqual([true, true]);
  expect(await relay.jobs('waiting')).toHaveLength(waiting);
  await relay.workToTheEnd();
  expect(told(relay).at(-1)).toMatch(said);
});

describe('a call whose answer is lost, and whose account is not linked any more since', () => {
  const tomasz = { email: 'tomasz.zielinski@example.com' };

  it.each<[string, () => Promise<unknown>, boolean]>([
    ['another one is linked', () => linkAccount(relay, undefined, tomasz), false],
    ['another one is linked, and the tool may be repeated', () => linkAccount(relay, undefined, tomasz), true],
    ['none is linked', () => command(relay, 'unlink'), false],
    ['none is linked, and the tool may be repeated', () => command(relay, 'unlink'), true],
    ['the grant is dead', async () => relay.sandbox.mcp.revokeGrants(), false],
  ])('is neither looked for nor repeated as another one: %s', async (_, change, isRepeatable) => {
    await start();
    const called: unknown[] = [];
    alter = async (answer, { method, params }) => {
      for (const tool of answer.result?.tools ?? []) {
        if (tool.name === 'log_time') tool.annotations = { ...tool.annotations, idempotentHint: isRepeatable };
      }
      if (method !== 'tools/call') return answer;
      if (answer.result) called.push(params?.name);
      if (params?.name !== 'log_time') return answer;
      await change();
      return new Response('lost', { status: 502 });
    };
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toMatch(
      /^:warning: I do not know whether this was logged .*The account that it was sent with is not linked any more/,
    );
    expect(called).toEqual(['log_time']);
  });

  it('is sent again as the same one where the tool may be repeated', async () => {
    await start();
    let calls = 0;
    alter = (answer, { params }) => {
      for (const tool of answer.result?.tools ?? []) {
        if (tool.name === 'log_time') tool.annotations = { ...tool.annotations, idempotentHint: true };
      }
      if (params?.name !== 'log_time') return answer;
      calls += 1;
      return calls < 3 ? new Response('lost', { status: 502 }) : answer;
    };
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(told(relay).at(-1)).toContain('as you');
    expect(calls).toBe(3);
  });

  it.each(['the tool is gone', 'the tool refuses it', 'the service refuses it'])(
    'is looked for where it may be repeated, but cannot be any more: %s',
    async (what) => {
      await start();
      let calls = 0;
      alter = (answer, { params }) => {
        for (const tool of answer.result?.tools ?? []) {
          if (tool.name === 'log_time') tool.annotations = { ...tool.annotations, idempotentHint: true };
        }
        if (what === 'the tool is gone' && calls > 0 && answer.result?.tools) {
          const tools = answer.result.tools.filter(({ name }) => name !== 'log_time');
          return { ...answer, result: { ...answer.result, tools } };
        }
        if (params?.name !== 'log_time') return answer;
        calls += 1;
        if (calls === 1) {
          relay.clock.now += 10 * 60_000;
          return new Response('lost', { status: 502 });
        }
        if (what === 'the tool refuses it') return { ...answer, result: { isError: true, content: [] } };
        return Response.json({ jsonrpc: '2.0', id: answer.id, error: { code: -32602, message: 'no' } });
      };
      await command(relay, `log 1h ${CHECKOUT}`);
      await relay.workToTheEnd();
      // The look finds what the first call has made.
      expect(told(relay).at(-1)).toMatch(/ as you, today\.$/);
      expect(relay.sandbox.data.timelogs.length).toBeLessThanOrEqual(5);
    },
  );
});
