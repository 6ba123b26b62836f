import { beforeEach, describe, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { codeOn, LinkBrowser, linkUrl } from '../account-link-browser.ts';
import { linkAccount, sandboxCommands } from '../as-person/linked.ts';
import { commentPayload, mergedPayload } from '../kill/github-payloads.ts';
import type { Commands } from '../kill/trial.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, GENERAL, MIRA, PLATFORM, pressLogRest, submit, TOMASZ } from '../slack-requests.ts';

const CHECKOUT = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';

type Fields = Record<string, unknown>;
interface McpAnswer extends Fields {
  result?: {
    tools?: { name: string; description?: string; inputSchema: { properties: Fields }; annotations?: Fields }[];
  } & Fields;
}
/** Changes the endpoint's answer to a call of a tool, or to the listing of the tools. */
type Alter = (
  answer: McpAnswer,
  asked: { method: string; params?: { name?: string; arguments?: Fields } },
) => McpAnswer | Response | Promise<McpAnswer | Response>;

let relay: TestRelay;
let alter: Alter;

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
beforeEach(() => start());

describe('a command in a comment on GitHub', () => {
  const LOG = `/log 1h ${CHECKOUT} from GitHub`;
  interface Asked {
    text?: string;
    /** The comment as GitHub shows it. */
    has?: { text: string; author?: string } | null;
    accounts?: 'offered' | 'required';
    commands?: Commands;
    /** The author's Slack id in `people`. */
    slack?: string;
    isLinked?: boolean;
    /** The job's earlier steps, according to the table. */
    journal?: readonly { step: string; calls: string; result?: unknown }[];
    happens?: () => void;
  }

  /** Delivers a comment. @returns the relay's answer to it */
  async function comment(asked: Asked): Promise<string | undefined> {
    const { text = LOG, has = { text }, accounts = 'required', commands = sandboxCommands() } = asked;
    const slack = 'slack' in asked ? {} : { slack: MIRA };
    const people = [{ github: 'Codertocat', email: 'mira.novak@example.com', ...slack }];
    const config = exampleConfig({}, { connection: { mcp: { accounts, commands } }, people });
    relay = await startRelay({ config, sandbox: { mcp: { enabled: true } }, github: { token: 'ghp_test' } });
    if (asked.isLinked !== false) await linkAccount(relay);
    if (has) relay.github.written.set(600_001, has.text);
    if (has?.author) relay.github.author = has.author;
    asked.happens?.();
    expect((await relay.post('issue_comment', commentPayload(1, text))).status).toBe(202);
    const [job = expect.fail('there is no job')] = await relay.jobs();
    for (const entry of asked.journal ?? []) {
      const done = { ...entry, status: 'done', startedAt: relay.clock.now, finishedAt: relay.clock.now };
      await relay.stores.table.put({ ...keys.step(job.id, entry.step), ...done });
    }
    await relay.workToTheEnd();
    return relay.github.comments.at(-1)?.body;
  }

  const mallory = { text: LOG, author: 'mallory' };
  const offered = { accounts: 'offered' } as const;
  const dies = () => {
    relay.sandbox.mcp.revokeGrants();
    relay.clock.now += 2 * 3_600_000;
  };
  const LINK_FIRST = 'Link your account first: type /pm link in Slack';
  it.each<[string, Asked, string, ('account' | 'key')?]>([
    ['the account of its author', offered, 'in your name', 'account'],
    ['the key, where GitHub does not show who wrote it', { ...offered, has: null }, 'Logged 1h on task', 'key'],
    ['nothing, if another one wrote it', { ...offered, has: mallory }, 'another author for this comment'],
    ['nothing, where an account is required', { isLinked: false }, LINK_FIRST],
    [
      'nothing, if the author is unknown',
      { isLinked: false, slack: '' },
      'to add you to “people”, with your Slack id. Then link your account yourself',
    ],
    ['nothing, without a tool either', { isLinked: false, commands: {} }, '/log cannot be used here'],
    ['nothing, if no tool serves it', { commands: {} }, '/log cannot be used here, because people act in their'],
    ['nothing, if GitHub does not show it', { has: null }, 'has no permission to read on GitHub who wrote this'],
    ['nothing, if the link is dead', { happens: dies }, 'in Slack with the command link, then ask again'],
  ])('goes through %s', async (_, asked, said, through) => {
    const answer = await comment(asked);
    expect(answer).toContain(said);
    expect(answer?.includes('in your name')).toBe(through === 'account');
    expect(relay.timelogs()).toHaveLength(through ? 1 : 0);
    expect(relay.sandbox.requests > 0).toBe(through === 'key');
    expect(await relay.jobs('parked')).toEqual([]);
  });

  const LOOKED = { step: 'read the comment 1', calls: 'GitHub comment read', result: 'there' };
  const ACTED = { step: 'log the time before', calls: 'tool log_time', result: { became: 'done', kept: null } };
  const WHO = { step: 'who acts', calls: 'account link', result: { in: 'slack', id: MIRA } };
  it.each([
    ['that GitHub was asked', [LOOKED]],
    ['that GitHub was asked, and who acts', [LOOKED, WHO]],
    ['that the job has acted, and who acts', [LOOKED, ACTED, WHO]],
  ])('goes through no account because the journal says %s', async (_, journal) => {
    await comment({ ...offered, has: mallory, journal });
    expect([relay.timelogs(), relay.sandbox.mcp.calls]).toEqual([[], []]);
  });

  it('is answered without words of the schema, which strangers could read', async () => {
    const { log, ...others } = sandboxCommands();
    const inMinutes = log && { ...log, arguments: { ...log.arguments, hours: '{minutes}' } };
    const answer = await comment({ commands: { ...others, ...(inMinutes && { log: inMinutes }) } });
    expect(answer).toContain('service refuses this');
    expect(answer).not.toContain('greater than');
  });
});

it.each([
  [
    'offered' as const,
    "these commands act in your name, with your rights: /pm log, /pm find, /pm today, /pm week. Partner Relay's other commands use its own account.",
  ],
  ['required' as const, 'commands act in your name, with your rights.'],
])('a person reads which commands act in their name, with accounts %s', async (accounts, said) => {
  const { log, find } = sandboxCommands();
  const week = { tool: 'list_time', schema: '0'.repeat(20) };
  await start({ accounts, isLinked: false, commands: { ...(log && { log }), ...(find && { find }), week } });
  expect((await command(relay, 'link')).text).toBe(`:link: After you link your account, ${said}`);
  await linkAccount(relay);
  const now = said.charAt(0).toUpperCase() + said.slice(1);
  expect((await command(relay, 'status')).text).toContain(now);
  expect((await command(relay, 'link')).text).toContain(`${now} If you link another account, it replaces this one.`);
});

describe('a connection that requires linked accounts', () => {
  it('never uses the key for a person, even without a suitable tool', async () => {
    await start({ accounts: 'required', commands: {} });
    for (const text of [
      ...['find checkout', 'done 101', 'undo 101', `log 1h ${CHECKOUT}`, 'defect Login fails', 'defect'],
    ]) {
      const { text: said } = await command(relay, text, { channelId: PLATFORM });
      expect(said).toMatch(/cannot be used here, because people act in their own name/);
    }
    await relay.workToTheEnd();
    expect([await relay.jobs(), relay.sandbox.requests]).toEqual([[], 0]);
  });

  it('refuses commands without a tool under their own names, and help leaves them out', async () => {
    const { log, done } = sandboxCommands();
    await start({ accounts: 'required', commands: { ...(log && { log }), ...(done && { done }) } });
    const { text: help } = await command(relay, 'help', { channelId: PLATFORM });
    expect([...help.matchAll(/^\/pm (\w+).* {2}/gm)].map(([, verb]) => verb)).toEqual([
      ...['done', 'log', 'link', 'unlink', 'status', 'help'],
    ]);
    for (const verb of ['today', 'week', 'undo 101', 'find checkout']) {
      const { text: said } = await command(relay, verb, { channelId: PLATFORM });
      expect(said).toBe(
        `:warning: /pm ${verb.split(' ')[0]} cannot be used here, because people act in their own name. An administrator can set it up`,
      );
    }
  });

  it('shows nothing in forms that only the key may see', async () => {
    await start({ accounts: 'required' });
    expect((await command(relay, 'defect', { channelId: GENERAL })).text).toContain('cannot list your projects');
    await command(relay, 'defect', { channelId: PLATFORM });
    expect(JSON.stringify(relay.lastView())).toContain('The project of this channel');
    await submit(relay, relay.lastView(), { project: PROJECT, title: 'Login fails' });
    await relay.workToTheEnd();
    expect(relay.sandbox.data.defects.at(-1)).toMatchObject({ title: 'Login fails', project_id: PROJECT });
    await pressLogRest(relay);
    await submit(relay, relay.lastView(), { another: 'Release checkout 2.4', duration: '1h' });
    await relay.workToTheEnd();
    expect(relay.told().at(-1)).toContain('Logged 1h on Release checkout 2.4 in your name');
    expect(relay.sandbox.requests).toBe(0);
  });

  it('carries out events without a person without an account', async () => {
    await start({ accounts: 'required' });
    const merged = mergedPayload(7, 'Completes checklist item 103');
    const pull = { ...(merged.pull_request as Fields), merged_at: '2026-11-20T09:00:00Z' };
    await relay.post('pull_request', { ...merged, pull_request: pull });
    await relay.workToTheEnd();
    expect(relay.isCompleted(103)).toBe(true);
  });
});

it('one browser holds links of several people and connections, and tries a code on each', async () => {
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
  // The person types each, but means `main`.
  for (const [index, code] of codes.entries()) {
    said.push((await command(relay, `link ${code}`, { ...asked[index], channelId: GENERAL })).text);
  }
  expect(said).toEqual(Array(3).fill(expect.stringContaining('Your account is linked')));
});

it("the way to the service begins only on the relay's own start page", async () => {
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
])('results with giant titles do not stop a search: %s', async (text, status) => {
  alter = (answer, { params }) => {
    if (params?.name !== 'find_tasks') return answer;
    const tasks = [1, 2].map((task) => ({ task, title: 'x'.repeat(600_000) }));
    return { ...answer, result: { structuredContent: { tasks }, content: [{ type: 'text', text: 'found' }] } };
  };
  await command(relay, text, { channelId: PLATFORM });
  await relay.workToTheEnd();
  expect(await relay.jobs()).toMatchObject([{ status }]);
});

it('marks that reverse text do not get from a tool to Slack', async () => {
  alter = (answer, { params }) =>
    params?.name === 'log_time'
      ? { ...answer, result: { content: [{ type: 'text', text: 'no \u202eevil\u0007' }], isError: true } }
      : answer;
  await ask(relay, `log 1h ${CHECKOUT}`);
  expect(relay.told().at(-1)).toContain('no evil');
});

const WITHOUT_101 =
  /Completed checklist items 102 and 103 in your name\. Checklist item 101: .*Link your account in Slack/;
it.each([
  ['lacks a scope', 403, { code: -32001, message: 'needs mcp:checklists.write' }, 0, WITHOUT_101],
  [
    'meets a failure',
    503,
    { code: -32603, message: 'not now' },
    1,
    /Completed checklist items 101, 102 and 103 in your name/,
  ],
])('an item whose call %s does not hold up the others', async (_, status, error, waiting, said) => {
  const { done, ...others } = sandboxCommands();
  const commands = { ...others, ...(done && { done: { ...done, arguments: { items: ['{item}'], done: true } } }) };
  await start({ commands });
  let refused = 0;
  alter = (answer, { method, params }) => {
    if (method !== 'tools/call' || !JSON.stringify(params?.arguments).includes('101') || refused > 2) return answer;
    refused += 1;
    return Response.json({ jsonrpc: '2.0', id: answer.id, error }, { status });
  };
  await ask(relay, 'done 101 102 103');
  expect([relay.isCompleted(102), relay.isCompleted(103)]).toEqual([true, true]);
  expect(await relay.jobs('waiting')).toHaveLength(waiting);
  await relay.workToTheEnd();
  expect(relay.told().at(-1)).toMatch(said);
});

it('an item that may have been completed is not said to be open', async () => {
  alter = (answer, { params }) => {
    for (const tool of answer.result?.tools ?? []) tool.annotations = { ...tool.annotations, idempotentHint: false };
    return params?.name === 'complete_checklist_items' ? new Response('lost', { status: 502 }) : answer;
  };
  expect((await ask(relay, 'done 101')).inTheEnd).toMatch(
    /^:warning: done 101\nChecklist item 101: Before you ask again, look in the service whether this was done: [^.]*\.$/,
  );
});

describe('a call whose answer was lost, and whose account is no longer linked', () => {
  const tomasz = { email: 'tomasz.zielinski@example.com' };
  /** Makes the list of tools say whether the tool may be called twice. */
  function mayRepeat({ result }: McpAnswer, idempotentHint = true): void {
    const tool = result?.tools?.find(({ name }) => name === 'log_time');
    if (tool) tool.annotations = { ...tool.annotations, idempotentHint };
  }

  it.each<[string, () => Promise<unknown>, boolean]>([
    ['another one is linked', () => linkAccount(relay, undefined, tomasz), false],
    ['another one is linked, and the tool may be repeated', () => linkAccount(relay, undefined, tomasz), true],
    ['none is linked', () => command(relay, 'unlink'), false],
    ['none is linked, and the tool may be repeated', () => command(relay, 'unlink'), true],
    ['the grant is dead', async () => relay.sandbox.mcp.revokeGrants(), false],
  ])('is neither searched for nor repeated as another call: %s', async (_, change, isRepeatable) => {
    const called: unknown[] = [];
    alter = async (answer, { method, params }) => {
      mayRepeat(answer, isRepeatable);
      if (method !== 'tools/call') return answer;
      if (answer.result) called.push(params?.name);
      if (params?.name !== 'log_time') return answer;
      await change();
      return new Response('lost', { status: 502 });
    };
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(relay.told().at(-1)).toMatch(
      /^:warning: log 1h \S+\nBefore you ask again, look in the service whether this was logged: .*The account with which Partner Relay sent your request is no longer linked/,
    );
    expect(called).toEqual(['log_time']);
  });

  it('is only looked for while the service is down, and the person reads that in every message', async () => {
    let looks = 0;
    alter = (answer, { params }) => {
      if (params?.name === 'log_time' || (params?.name === 'list_time' && looks++ < 4))
        return new Response('lost', { status: 503 });
      return params?.name === 'list_time' ? { ...answer, result: { structuredContent: { entries: [] } } } : answer;
    };
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.work();
    expect((await command(relay, 'status')).text).toContain(
      'New requests start at once, but may have to wait like those above. Calls: ',
    );
    await relay.workToTheEnd();
    expect(relay.told()).toEqual([
      expect.stringMatching(
        /^:hourglass: log 1h \S+ has to wait: the service gave no clear answer, so Partner Relay checks whether this was done, and does not do it twice\. /,
      ),
      expect.stringMatching(
        /^:warning: log 1h \S+\nBefore you ask again, look in the service whether this was logged: its answer was not clear \(.*; it is not there yet, but may still come\)\.$/,
      ),
    ]);
    expect((await command(relay, 'status')).text).toContain(
      'It is unknown whether this was done; look in the service before you ask again.',
    );
  });

  it('is sent again as the same call if the tool may be repeated', async () => {
    let calls = 0;
    alter = (answer, { params }) => {
      mayRepeat(answer);
      if (params?.name !== 'log_time') return answer;
      calls += 1;
      return calls < 3 ? new Response('lost', { status: 502 }) : answer;
    };
    await command(relay, `log 1h ${CHECKOUT}`);
    await relay.workToTheEnd();
    expect(relay.told().at(-1)).toContain('in your name');
    expect(calls).toBe(3);
  });

  it.each(['the tool is gone', 'the tool refuses it', 'the service refuses it'])(
    'is searched for if it may be repeated, but no longer can be: %s',
    async (what) => {
      let calls = 0;
      alter = (answer, { params }) => {
        mayRepeat(answer);
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
      // The search finds what the first call created.
      expect(relay.told().at(-1)).toMatch(/ in your name today\.$/);
      expect(relay.sandbox.data.timelogs.length).toBeLessThanOrEqual(5);
    },
  );
});
