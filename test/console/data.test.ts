import { github } from 'partner-relay';
import * as z from 'partner-relay/zod';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobDetail, JobPage, JobTest, LinkPage, Now, ParkedGroups } from '../../console/contract.ts';
import type { ActionOutcome, ActionResult } from '../../console/requests.ts';
import * as block from '../../docs/guides/automations/block.ts';
import * as mondayTasks from '../../docs/guides/automations/monday-tasks.ts';
import * as sentryToDefect from '../../docs/guides/automations/sentry-to-defect.ts';
import { shortName } from '../../lib/engine/record/job.ts';
import { command as onCommand } from '../../lib/triggers/command.ts';
import type { CommandSteps, Steps } from '../../lib/triggers/steps.ts';
import type { Verification } from '../../lib/triggers/webhook.ts';
import { exampleEvent } from '../../local/examples/github-event.ts';
import { signedByTool } from '../../local/examples/signed-request.ts';
import type { RelayTest } from '../../local/trial/define-tests.ts';
import { runTest } from '../../local/trial/run-test.ts';
import { runRelayOf } from '../cli/run-command.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { ask, command, MIRA } from '../slack-requests.ts';
import { consoleOf, type TestConsole, TOKEN } from './console-of.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const creation = { operation: '/defects/create' };
const isLost = expect.arrayContaining([expect.objectContaining({ answer: 'lost' })]);

let relay: TestRelay;
let shown: TestConsole;

beforeEach(async () => {
  const people = [{ github: 'Codertocat', email: 'mira.novak@example.com', timeZone: 'UTC' }];
  relay = await startRelay({ config: exampleConfig({}, { people, connection: { mcp: { accounts: 'offered' } } }) });
  shown = await consoleOf(relay);
});

afterEach(async () => {
  expect(shown.failures).toEqual([]);
  await shown.close();
});

async function issue(id: number, fields: Parameters<typeof issueEvent>[1] = {}): Promise<string> {
  const delivery = { 'x-github-delivery': `delivery-${id}` };
  const { answer } = await relay.post('issues', issueEvent('opened', { id, ...fields }), delivery);
  return String((answer.jobs as string[])[0]);
}

/** An issue whose defect was created, but all answers about it were lost. */
async function unknownOutcome(): Promise<string> {
  relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', ...creation });
  relay.sandbox.setFault({ kind: 'cut', when: 'on arrival', operation: '/defects/list' });
  const id = await issue(1);
  await relay.workToTheEnd();
  expect(await detail(id)).toMatchObject({ status: 'parked', outcomeUnknown: true });
  return id;
}

const detail = (id: string) => shown.get<JobDetail>(`/api/jobs/${id}`);
const find = (query: string) => shown.get<JobPage>(`/api/jobs?${query}`);
const decide = async (id: string, action: object) =>
  (await shown.post<ActionResult>(`/api/jobs/${id}`, action)).answer.results[0];

describe('a job', () => {
  it('is shown with its cause, its steps and every period', async () => {
    const id = await issue(7);
    relay.clock.now += 2_000;
    await relay.workToTheEnd();
    const job = await detail(id);
    const made = expect.objectContaining({
      ...{ step: 'create-defect', calls: 'defects/create', status: 'done', olderSends: 0 },
      sends: [expect.objectContaining({ answer: 'accepted', httpStatus: 201 })],
    });
    expect(job).toMatchObject({
      ...{ id, status: 'succeeded', automation: 'issue-to-defect', connection: 'main', lane: 'background' },
      ...{ subject: 'Codertocat/Hello-World#7', person: 'Codertocat', delivery: 'delivery-7' },
      news: expect.stringContaining('created defect'),
      next: { actions: [] },
      steps: expect.arrayContaining([made, expect.objectContaining({ step: 'comment', status: 'skipped', sends: [] })]),
    });
    expect(job.periods[0]).toEqual({ is: 'queue', from: job.createdAt, to: job.createdAt + 2_000 });
    expect(job.periods.at(-1)?.to).toBe(job.finishedAt);
  });

  it("can be shared without anyone's texts, and shows what happened", async () => {
    const id = await unknownOutcome();
    const shared = await shown.get<object>(`/api/jobs/${id}/share`);
    expect(shared).toMatchObject({
      ...{ automation: 'issue-to-defect', status: 'parked', outcomeUnknown: true, attempts: expect.any(Number) },
      steps: [{ step: 1, calls: 'defects/create', sends: isLost }],
      input: { repository: 'text of 22' },
    });
    const texts = ['Codertocat', 'Hello-World', 'Spelling', 'delivery-1', 'ECONNRESET', 'main'];
    for (const text of texts) expect(JSON.stringify(shared)).not.toContain(text);
  });

  it('of a team can be shared without the names of its fields, its steps and their calls', async () => {
    await shown.close();
    const on = github('issues.opened', {
      input: { hours: z.record(z.string(), z.number()) },
      job: ({ issue }) => ({ happened: [issue.id], input: { hours: { tomasz: 2 } } }),
    });
    const automation = (step: (steps: Steps) => Promise<unknown>) => ({
      on,
      run: async (_: unknown, steps: Steps) => {
        await step(steps);
        return 'done';
      },
    });
    const mine = automation(({ github }) =>
      github('read mine', '/repos/Codertocat/Hello-World/labels/Spelling', z.any()),
    );
    const payroll = automation(({ send }) => send('send mine', 'payroll/add', {}));
    relay = await startRelay({ own: { mine, payroll } });
    shown = await consoleOf(relay);
    await relay.post('issues', issueEvent('opened', { labels: [] }));
    await relay.workToTheEnd();
    const jobs = await relay.jobs();
    const shared = await Promise.all(jobs.map(({ id }) => shown.get<object>(`/api/jobs/${id}/share`)));
    const all = JSON.stringify(shared);
    expect(shared).toHaveLength(2);
    for (const called of ['GitHub GET', 'other']) expect(all).toContain(`"calls":"${called}"`);
    for (const text of ['mine', 'payroll', 'tomasz', 'Codertocat', 'Spelling', 'hours'])
      expect(all).not.toContain(text);
  });

  const sent = (wanted: Parameters<typeof exampleEvent>[0]) => {
    const { event, payload } = exampleEvent(wanted, relay.clock.now);
    return { do: 'send event', event, body: JSON.stringify(payload) };
  };
  it.each([
    ['an issue', () => sent({ labels: ['bug', 'urgent'] })],
    ['a command', () => ({ do: 'send command', text: '/pm log 45m "Login with passkeys" wrote tests' })],
    ['a comment', () => sent({ body: '/done 101' })],
    ['a merged pull request', () => sent({ merged: true, body: 'Completes checklist items 102 and 103' })],
  ])('of %s becomes a test that passes', async (_, make) => {
    const { answer } = await shown.post<ActionOutcome>('/api/try', make());
    const [id] = answer.jobs ?? [];
    await relay.workToTheEnd();
    const test = await testOf(id);
    expect(test.makes).not.toEqual({});
    expect(await runTest(test, relay.runtime.config, '.', relay.runtime.custom)).toEqual([]);
  });

  async function testOf(id = ''): Promise<RelayTest> {
    const { text } = await shown.get<JobTest>(`/api/jobs/${id}/test`);
    const tests = new Function(`return ${/defineTests\((.*)\);/s.exec(text)?.[1]}`)() as Record<string, RelayTest>;
    return Object.values(tests)[0] ?? expect.fail('there is no test');
  }

  describe('of a file of automations/', () => {
    const may = {
      on: onCommand('may [what]', { does: 'asks', example: 'may' }),
      run: async (_: unknown, { ask }: CommandSteps) => {
        const { answer } = await ask('severity', 'How severe is it?');
        return `it is ${answer}`;
      },
    };
    beforeEach(async () => {
      relay = await startRelay({
        own: { block, may, 'monday-tasks': mondayTasks, 'sentry-to-defect': sentryToDefect },
      });
      shown = await consoleOf(relay);
    });
    const due = async (at: string) => {
      await relay.fire('due-schedules', { own: 'monday-tasks', at } as never);
      await relay.workToTheEnd();
    };
    const job = async () => (await relay.jobs())[0]?.id ?? expect.fail('no job');
    const passes = async (test: RelayTest) =>
      expect(await runTest(test, relay.runtime.config, '.', relay.runtime.custom)).toEqual([]);

    it('a command becomes a test with all its words', async () => {
      await ask(relay, 'block "Login with passkeys" waits for "it"');
      const test = await testOf(await job());
      expect(test).toMatchObject({ event: { command: 'block "Login with passkeys" waits for "it"' }, makes: {} });
      await passes(test);
    });

    it("an operator's answer becomes one of the test; before it, there is no test", async () => {
      await ask(relay, 'may');
      const id = await job();
      await expect(testOf(id)).rejects.toThrow('this job cannot become a test: only a job that succeeded');
      await runRelayOf(relay, ['replay', id, '--reason', 'high']);
      await relay.workToTheEnd();
      const test = await testOf(id);
      expect(test.answers).toEqual({ severity: 'high' });
      await passes(test);
    });

    it('a schedule becomes a test if it is due then', async () => {
      await due('2026-11-16T08:00:00.000Z');
      const test = await testOf(await job());
      await passes(test);
    });

    it('a schedule that is not due then, and a webhook, become no test', async () => {
      await due('2026-11-16T08:05:00.000Z');
      await expect(testOf(await job())).rejects.toThrow('its schedule is not due at 2026-11-16T08:05:00.000Z');
      const event = { issue_id: '12', title: 'Pay fails', web_url: 'https://sentry.example/12' };
      const body = JSON.stringify({ action: 'triggered', data: { event } });
      const secret = 'a secret of the test';
      relay.stack.secrets.put(`${relay.stack.secretPrefix}hooks`, { 'sentry-to-defect': secret });
      const { verify } = sentryToDefect.on as unknown as { verify: Verification };
      const request = signedByTool(verify, body, secret, { now: relay.clock.now });
      const url = new URL('/hooks/sentry-to-defect', relay.url);
      const response = await fetch(url, { method: 'POST', ...request });
      const { jobs } = (await response.json()) as { jobs: string[] };
      await relay.workToTheEnd();
      await expect(testOf(jobs[0])).rejects.toThrow('the relay does not keep what a webhook sends');
    });
  });

  it('waits are shown by kind while they last, and after', async () => {
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 90, times: 1 });
    const id = await issue(1);
    await relay.work();
    const waiting = await detail(id);
    expect(waiting.periods.at(-1)).toMatchObject({ is: 'budget', why: 'the service wants fewer calls' });
    expect(waiting.periods.at(-1)?.to).toBeUndefined();
    const text = expect.stringMatching(/^Nothing to do/);
    expect(waiting.next).toEqual({ text, actions: ['replay'], docs: 'docs/stuck.md#waiting' });
    await relay.workToTheEnd();
    const waited = expect.objectContaining({ is: 'budget', why: 'the service wants fewer calls' });
    expect((await detail(id)).periods).toContainEqual(waited);
  });

  it('titles from outside come back unchanged, as data', async () => {
    const title = `"><img src=x onerror=alert(1)></script>\u001b[2J\u202e{{7*7}} ${'x'.repeat(50)}`;
    const id = await issue(1, { title });
    await relay.workToTheEnd();
    const { summary } = await detail(id);
    expect(summary).toContain('<img src=x onerror=alert(1)>');
    const { headers, body } = await shown.raw('GET', `/api/jobs/${id}`, { authorization: `Bearer ${TOKEN}` });
    expect(headers['content-type']).toBe('application/json');
    expect(body).not.toContain('\u001b');
    const { links: rows } = await shown.get<LinkPage>('/api/links');
    expect(rows[0]?.title).toBe(title);
  });

  it('never shows a key, a signature or a sent payload', async () => {
    const id = await unknownOutcome();
    const [key] = relay.sandbox.keys;
    const text = JSON.stringify(await detail(id));
    expect(text).not.toMatch(/nonce|signature/i);
    for (const secret of [key?.apiKey ?? '', key?.secretKey ?? '']) expect(text).not.toContain(secret);
  });

  it('is found by its short name, too', async () => {
    const id = await issue(1);
    expect(await detail(shortName(id))).toMatchObject({ id });
  });

  it('an expired job is reported as gone', async () => {
    await expect(detail('issue-to-defect-of-nobody')).rejects.toThrow(/404.*there is no job/);
  });
});

describe('the list of jobs', () => {
  it('has the jobs that match a filter', async () => {
    await issue(1);
    await issue(2);
    await relay.workToTheEnd();
    const wanted = {
      'status=succeeded': 2,
      'status=parked': 0,
      'automation=issue-to-defect': 2,
      'automation=log-time': 0,
      'subject=codertocat/hello-world': 2,
      'subject=Codertocat/Hello-World%232': 1,
      'person=%40codertocat': 2,
      'connection=main': 2,
      'connection=other': 0,
      'lane=background': 2,
      'lane=backfill': 0,
      'delivery=delivery-2': 1,
      'text=CREATED%20defect': 2,
      'text=<script>': 0,
      [`since=${Date.parse('2026-11-20T10:00:00Z')}`]: 2,
      [`since=${Date.parse('2027-01-01')}`]: 0,
      'status=&text=&since=': 2,
      'status=succeeded&automation=issue-to-defect&delivery=delivery-1': 1,
    };
    const found: Record<string, number> = {};
    for (const query of Object.keys(wanted)) {
      const { jobs, cursor, read } = await find(query);
      found[query] = jobs.length;
      expect(cursor).toBeUndefined();
      expect(read).toBeLessThanOrEqual(2);
    }
    expect(found).toEqual(wanted);
  });

  it('has the names of people and tasks, and can be searched by them', async () => {
    const task = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03';
    for (const userId of [MIRA, MIRA]) await command(relay, `log 15m ${task}`, { userId });
    await relay.workToTheEnd();
    await issue(1);
    const row = { summary: 'Mira Novak: Logged 15m on Login with passkeys', person: MIRA, personName: 'Mira Novak' };
    for (const query of ['person=mira%20novak', `person=${MIRA}`, 'text=passkeys'])
      expect((await find(query)).jobs).toMatchObject([row, row]);
    expect(await detail((await find('text=passkeys')).jobs[0]?.id ?? '')).toMatchObject(row);
    expect((await find('automation=issue-to-defect')).jobs).toMatchObject([{ person: 'Codertocat' }]);
  });
});

describe("an operator's decisions", () => {
  async function parked(): Promise<string> {
    relay.sandbox.setFault({ kind: 'maintenance', status: 422, ...creation, times: 1 });
    const id = await issue(1);
    await relay.workToTheEnd();
    return id;
  }

  it('a parked job is replayed, and its history says who did it', async () => {
    const id = await parked();
    expect((await detail(id)).next.actions).toEqual(['replay', 'discard']);
    relay.clock.now += HOUR;
    expect(await decide(id, { do: 'replay' })).toEqual({ id, ok: true, text: expect.any(String) });
    await relay.workToTheEnd();
    const job = await detail(id);
    expect(job).toMatchObject({ status: 'succeeded', decisions: [{ by: 'mira', what: 'replayed' }] });
    expect(job.periods.find(({ is }) => is === 'operator')).toMatchObject({ why: expect.stringContaining('422') });
  });

  it('an unknown outcome is shown with what is known about it, and decided: done, with an id that the service knows', async () => {
    const id = await unknownOutcome();
    const { openCreations = [], next } = await detail(id);
    expect(next.actions).toEqual(['search', 'done', 'again', 'discard']);
    const known = 'It may exist: the service did not answer, and may have done the work. No search for it has finished';
    expect(openCreations).toMatchObject([
      {
        ...{ step: 'create-defect', calls: 'defects/create', again: false, sends: isLost },
        forAndAgainst: expect.stringContaining(known),
        consequences: { done: expect.any(String), again: expect.any(String), search: expect.any(String) },
      },
    ]);

    relay.sandbox.clearFaults();
    relay.clock.now += HOUR;
    const [defect] = relay.sandbox.data.defects.filter(({ project_id }) => project_id === PROJECT);
    const unknown = await decide(id, { do: 'done', createdId: '00000000-0000-4000-8000-000000000000' });
    expect(unknown).toMatchObject({ ok: false, text: expect.stringContaining('Nothing was changed') });
    if (defect) defect.description += openCreations[0]?.marker;
    expect(await decide(id, { do: 'done', createdId: defect?.defect_id ?? '' })).toMatchObject({ ok: true });
    await relay.workToTheEnd();
    const job = await detail(id);
    expect(job).toMatchObject({ status: 'succeeded', decisions: [{ by: 'mira', what: 'resolved with an id' }] });
    expect(job.steps[0]).toMatchObject({ status: 'done', settledBy: 'mira found what was created' });
  });

  it.each([
    [{ do: 'again' }, 1, 'resolved: create again'],
    [{ do: 'search' }, 0, 'resolved: search once more'],
    [{ do: 'discard', reason: 'a test' }, 0, 'discarded'],
  ])('an unknown outcome is decided: %j', async (action, made, what) => {
    const id = await unknownOutcome();
    relay.sandbox.clearFaults();
    relay.clock.now += HOUR;
    expect(await decide(id, action)).toMatchObject({ ok: true });
    await relay.workToTheEnd();
    expect(relay.sandbox.audit.filter(({ status }) => status === 201)).toHaveLength(made);
    expect(await detail(id)).toMatchObject({ decisions: [{ by: 'mira', what }] });
  });

  it('one sentence gives the evidence about an unknown outcome if the list has everything but the creation', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', ...creation });
    const id = await issue(1);
    await relay.workToTheEnd();
    const { openCreations } = await detail(id);
    expect(openCreations?.[0]?.forAndAgainst).toMatch(
      /^It may exist: the request arrived, but the service answered 500\. In \S+ as read at \S+Z, no \S+ had its marker\. The list may be behind, and the service may create it until \S+Z\.$/,
    );
  });

  it('several are decided at once, each on its own', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', status: 422, ...creation, times: 2 });
    const ids = [await issue(1), await issue(2), await issue(3)];
    await relay.workToTheEnd();
    const { answer } = await shown.post<ActionResult>('/api/jobs', { do: 'replay', ids: [...ids, 'gone', ids[0]] });
    expect(answer.results.map(({ ok }) => ok)).toEqual([true, true, false, false]);
    expect(answer.results[2]?.text).toMatch(/cannot be replayed: it has already succeeded$/);
    expect(answer.results[3]?.text).toContain('no longer exists');
  });
});

describe('parked jobs', () => {
  it('are grouped by reason without its variable parts, largest group first', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', status: 422, ...creation, times: 2 });
    await issue(1);
    await issue(2);
    await relay.workToTheEnd();
    relay.sandbox.setFault({ kind: 'maintenance', status: 403, ...creation, times: 1 });
    await issue(3);
    await relay.workToTheEnd();
    const { groups, more } = await shown.get<ParkedGroups>('/api/parked');
    expect(more).toBe(false);
    expect(groups.map(({ jobs }) => jobs.length)).toEqual([2, 1]);
    expect(groups[0]).toMatchObject({ outcomeUnknown: false, help: expect.stringContaining('replay') });
  });
});

describe('now and the budget', () => {
  it('shows the use, the waiting jobs, and when the day is used up', async () => {
    for (let id = 1; id <= 3; id++) await issue(id);
    const { connections, counts } = await shown.get<Now>('/api/now');
    expect(counts.queued).toEqual({ jobs: 3, more: false });
    const background = connections[0]?.lanes.find(({ lane }) => lane === 'background');
    expect(background).toMatchObject({ queued: { jobs: 3 }, queuedSince: relay.clock.now, oldestSince: null });
    await relay.workToTheEnd();
    relay.clock.now += 10_000;
    await relay.sweep();
    const { connections: after, hour, recent, schedules } = await shown.get<Now>('/api/now');
    const [connection] = after;
    expect(Object.values(hour.jobs).map((parts) => parts.reduce((sum, many) => sum + many, 0))).toEqual([3, 0, 0]);
    expect(hour.jobs.succeeded?.at(-1)).toBe(3);
    expect(recent.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const minute = Math.floor(relay.clock.now / MINUTE) * MINUTE;
    expect(schedules[0]).toEqual({
      ...{ name: 'job-sweep', times: 'every minute', takesTime: false, isCustom: false },
      ...{ lastAt: relay.clock.now, nextAt: minute + MINUTE },
    });
    const used = { minute: { used: 3 }, day: { used: 3 }, dayUsedUpAt: null };
    expect(connection).toMatchObject({ ...used, service: relay.sandbox.url });
    expect(connection?.dayCalls).toEqual([...Array<number>(143).fill(0), 3]);
    relay.clock.now += 23 * HOUR + 40 * MINUTE;
    const later = (await shown.get<Now>('/api/now')).connections[0]?.dayCalls;
    expect(later?.slice(0, 5)).toEqual([0, 3, 0, 0, 0]);
  });

  it('shows each outage once, with the jobs and people who wait for it, and leaves out earlier failures', async () => {
    const since = relay.clock.now;
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', ...creation });
    for (let id = 1; id <= 4; id++) await issue(id);
    await relay.work();
    const now = () => shown.get<Now>('/api/now');
    const [failing] = (await now()).connections;
    expect(failing).toMatchObject({ stopped: [{ operation: 'defects/create' }], held: { jobs: 4, people: 0 } });
    relay.sandbox.setFault({ kind: 'maintenance' });
    for (const userId of [MIRA, MIRA, 'U0TOMASZ1']) await command(relay, 'find login', { userId, triggerId: userId });
    for (let minute = 0; minute < 3; minute++) {
      await relay.work();
      relay.clock.now += MINUTE;
      await relay.sweep();
    }
    await relay.work();
    const { connections, oldest, recent } = await now();
    expect(connections[0]?.stopped).toMatchObject([{ since: expect.any(Number), triedAt: expect.any(Number) }]);
    expect(connections[0]?.stopped[0]).toMatchObject({ why: expect.stringContaining('503') });
    expect(connections[0]?.stopped[0]?.operation).toBeUndefined();
    const waiting = (await relay.jobs('waiting')).map(({ id }) => id);
    expect(connections[0]?.held).toMatchObject({ jobs: waiting.length, people: 2 });
    expect(connections[0]?.held.rows.map(({ id }) => id).toSorted()).toEqual(waiting.toSorted());
    // Since the job has waited, not since its event.
    expect(oldest.waiting).toBeGreaterThan(since);
    expect(connections[0]?.held.oldestSince).toBe(oldest.waiting);
    expect(recent.filter(({ status }) => status === 'waiting')).toEqual([]);
  });

  it('says that calls fail before they are stopped, and that the key is refused', async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'on arrival', times: 1 });
    const main = async () => (await shown.get<Now>('/api/now')).connections[0];
    await command(relay, 'done 101');
    await relay.work();
    expect(await main()).toMatchObject({ stopped: [], failing: { why: expect.stringContaining('500') } });
    relay.sandbox.clearFaults();
    relay.sandbox.setFault({ kind: 'key-revoked' });
    for (let id = 2; id <= 4; id++) await issue(id);
    await relay.work();
    const lanes = expect.arrayContaining([expect.objectContaining({ left: 0 })]);
    // Also the job that asked for the key's refusal, which is in no line.
    const waiting = (await find('status=waiting')).jobs;
    expect(waiting[0]).toMatchObject({ keyRefused: true });
    expect(await main()).toMatchObject({ refusesKey: true, lanes, held: { jobs: waiting.length } });
  });

  it('shows within a minute that the stage was stopped or started, and everything else even without the right to ask', async () => {
    const words = 'The stage prod is stopped.';
    let answer = async (): Promise<string | null> => null;
    await shown.close();
    shown = await consoleOf(relay, { stopped: () => answer() });
    const stopped = async () => (await shown.get<Now>('/api/now')).stopped;
    expect(await stopped()).toBeNull();
    for (const [next, wanted] of [
      [async () => words, words],
      [async () => null, null],
      [() => Promise.reject(new Error('AccessDenied')), null],
    ] as const) {
      const before = await stopped();
      answer = next;
      relay.clock.now += MINUTE - 1;
      expect(await stopped()).toBe(before);
      relay.clock.now++;
      expect(await stopped()).toBe(wanted);
    }
  });
});

describe('links', () => {
  it('lists the issues of the newest jobs, and finds an issue by its name or address', async () => {
    await issue(1);
    await issue(2, { labels: [] });
    await relay.workToTheEnd();
    const { links: rows } = await shown.get<LinkPage>('/api/links');
    const [defect] = relay.sandbox.data.defects.slice(-1);
    const made = { life: 'made', connection: 'main', defectId: defect?.defect_id };
    const first = rows.find(({ issue }) => issue === 'Codertocat/Hello-World#1');
    expect(first).toMatchObject({ ...made, title: 'Spelling error in the README file' });
    const address = 'https://github.com/Codertocat/Hello-World/issues/1';
    for (const name of ['codertocat/hello-world#1', address, 'issue-9001']) {
      const found = await shown.get<LinkPage>(`/api/links?find=${encodeURIComponent(name)}`);
      expect(found.links).toMatchObject([{ entity: 'issue-9001', life: 'made' }]);
    }
    expect((await shown.get<LinkPage>('/api/links?find=acme/web%231')).links).toEqual([]);
  });

  it('an issue is not shown as being created while its creation waits, is parked or was discarded', async () => {
    const rests = async () => (await shown.get<LinkPage>('/api/links')).links[0];
    relay.sandbox.setFault({ kind: 'rate-limited', retryAfterSeconds: 90, times: 1 });
    await issue(2);
    await relay.work();
    expect(await rests()).toMatchObject({ life: 'claimed', claimRests: 'waiting' });
    await relay.workToTheEnd();
    const id = await unknownOutcome();
    expect(await rests()).toMatchObject({ life: 'claimed', claimRests: 'parked' });
    relay.clock.now += 10 * 60_000;
    expect(await decide(id, { do: 'discard', reason: 'nobody wants it' })).toMatchObject({ ok: true });
    await relay.workToTheEnd();
    expect(await rests()).toMatchObject({ life: 'claimed', claimRests: 'discarded' });
    expect((await find('status=not-done')).jobs).toMatchObject([{ id, discarded: true }]);
    const counts = { succeeded: { jobs: 1 }, 'not-done': { jobs: 1 } };
    expect(await shown.get<Now>('/api/now')).toMatchObject({ counts });
  });
});
