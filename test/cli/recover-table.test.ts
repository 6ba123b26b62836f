import { beforeEach, describe, expect, it } from 'vitest';
import { targetName } from '../../lib/platforms/github/redelivery/hooks.ts';
import { openStores, type Stores } from '../../lib/runtime.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { keys } from '../../lib/state/table/keys.ts';
import { type GithubHooksApi, type StandInHook, startGithubHooksApi } from '../github-hooks-api.ts';
import { issueEvent } from '../issue-events.ts';
import { clearLink } from '../links/clear-link.ts';
import { APP, ofRepository, TOKEN } from '../redelivery-trial.ts';
import { exampleConfig, PROJECT, startRelay, type TestRelay } from '../relay.ts';
import { runRelayOf } from './run-command.ts';

const REPOSITORY = 'Codertocat/Hello-World';

let relay: TestRelay;
let github: GithubHooksApi;
const hook: StandInHook = ofRepository();

beforeEach(async () => {
  const clock = () => relay.clock.now;
  github = await startGithubHooksApi({ clock, deliverTo: () => relay.url, token: TOKEN.token, appId: APP.appId });
  relay = await startRelay({ config: exampleConfig({}, { apiUrl: github.url }), github: TOKEN });
  github.hooks = [{ id: Number(hook.id), active: true, events: ['issues'], config: { url: relay.url } }];
});

/** Runs the command by the relay's clock, some minutes later. @returns its output */
const recover = (...words: string[]) => recoverAt(relay.stores, ...words);

function recoverAt(stores: Stores, ...words: string[]): Promise<string> {
  relay.clock.now += 10 * 60_000;
  return runRelayOf(relay, ['recover', ...words], { stores });
}

/** Changes an issue, and delivers GitHub's event. */
async function happens(...[action, fields]: Parameters<typeof issueEvent>) {
  const event = issueEvent(action, fields);
  github.issues.set(`${REPOSITORY}#${event.issue.number}`, event.issue);
  await github.deliver(hook, 'issues', event);
  await relay.workToTheEnd();
}

const defects = () => relay.sandbox.data.defects.filter(({ description }) => String(description).includes('GitHub'));
const defectOf = (id: number) => defects().find(({ description }) => String(description).includes(`World#${id} by`));
const linkOf = (id: number) => relay.links.look(`issue-${9_000 + id}`);
const lists = () => relay.sandbox.audit.filter(({ endpoint }) => endpoint.endsWith('/defects/list')).length;
const budget = () => createBudget({ table: relay.stores.table });
const usedOfDay = async () => (await budget().view('main', { perMinute: 120, perDay: 5_000 })).day.used;

function describes(id: string, description: string): void {
  const [first] = relay.sandbox.data.defects;
  if (!first) throw new Error('the sandbox has no defect');
  relay.sandbox.data.defects.push({ ...first, defect_id: id, project_id: PROJECT, description });
}

describe('partner-relay recover', () => {
  it('believes only the last lines that the relay wrote', async () => {
    await happens('opened', { id: 1, body: 'first' });
    const genuine = String(defectOf(1)?.description);
    // The issue's text contains the last lines of another issue's defect, which people can read.
    await happens('opened', { id: 2, body: genuine });
    await happens('opened', { id: 3, labels: [], body: 'no defect' });
    await happens('opened', { id: 4, body: 'made twice' });
    await happens('transferred', { id: 5, labels: [] });
    const twice = String(defectOf(4)?.description);
    describes('imitated', genuine.replaceAll('World#1 by', 'World#3 by'));
    describes('made-up', genuine.replace(/\[partner-relay \w+\]$/, '[partner-relay 00112233445566778899]'));
    describes('elsewhere', genuine.replaceAll('World#1 by', 'Other#1 by'));
    describes('gone', genuine.replaceAll('World#1 by', 'World#77 by'));
    describes('twin', `${twice}\r\nSeen by QA.`.replaceAll('\n', '\r\n'));
    describes('without-address', 'Slack says so. [partner-relay 00112233445566778899]');
    relay.replaceTable([]);

    const plan = await recover('--go');
    expect(plan).toContain('links: 2 to write, 0 there, 6 left to you');
    expect(await linkOf(1)).toMatchObject({ life: 'made', defect: { id: defectOf(1)?.defect_id } });
    const second = defects().find(({ description }) => String(description).includes('World#2 by'));
    expect(await linkOf(2)).toMatchObject({ life: 'made', defect: { id: second?.defect_id } });
    for (const id of [3, 4]) expect(await linkOf(id)).toMatchObject({ life: 'unclaimed' });
    expect(plan).toMatch(
      /defect imitated: its marker does not belong to .*#3: .* npx partner-relay issue .*#3 --set imitated --steal/,
    );
    expect(plan).toMatch(/defect made-up: its marker does not belong to .*#1:/);
    expect(plan).toMatch(/defect elsewhere: Codertocat\/Hello-Other is not configured/);
    expect(plan).toMatch(/defect gone: GitHub does not show Codertocat\/Hello-World#77/);
    expect(plan).toMatch(/defect twin: .* have the same marker/);
    expect(plan).not.toContain('without-address');
  });

  it('does not change a link with another defect, and takes the newest defect of a cleared link', async () => {
    await happens('opened', { id: 1 });
    const first = defectOf(1);
    const copy = relay.backUp();
    await clearLink(relay, 1);
    await happens('edited', { id: 1, title: 'anew', seconds: 9 });
    const newest = defects().at(-1);
    expect(defects()).toHaveLength(2);

    relay.replaceTable(copy);
    const restored = await recover('--go');
    expect(restored).toContain('links: 0 to write, 1 there, 1 left to you');
    expect(restored).toContain(`the link of ${REPOSITORY}#1 has defect ${first?.defect_id}. If that is wrong, run`);
    expect(await linkOf(1)).toMatchObject({ defect: { id: first?.defect_id } });

    relay.replaceTable([]);
    const lost = await recover('--go');
    expect(lost).toContain(`defect ${first?.defect_id}: the link of ${REPOSITORY}#1 was cleared after it was made`);
    expect(await linkOf(1)).toMatchObject({ defect: { id: newest?.defect_id }, cleared: { times: 1 } });
  });

  it('continues after an interruption', async () => {
    for (const id of [1, 2, 3]) await happens('opened', { id });
    relay.replaceTable([]);
    let asked = 0;
    github.instead = (request) => {
      relay.clock.now += 1_000;
      return request.startsWith('POST') && ++asked > 1 ? { status: 502, message: 'Bad Gateway' } : undefined;
    };
    const stopped = await recover('--go').catch(String);
    const [, since = '', until = ''] =
      /to continue later, run it again with --since (\S+) --until (\S+) --go$/.exec(stopped) ?? [];
    github.instead = () => undefined;
    const rest = await recover('--since', since, '--until', until, '--go');
    expect(rest).toContain('0 to write, 3 there');
    expect(rest).toContain('deliveries requested again: 2');
  });

  it.each([
    [['--since', '2026-11-20T10:00Z', '--until', '2026-11-20T09:00Z'], /--since must be before --until/],
    [['--since', '2026-11-20T09:00Z', '--until', '2026-11-20T10:30Z'], /--until is ahead of the time now/],
    [['--used', 'many'], /expected a whole number of calls/],
  ])('refuses %j', async (words, why) => {
    await expect(recover(...words)).rejects.toThrow(why);
  });

  it('counts the calls that the operator gives, or those that the limits allow in the lost time', async () => {
    relay.replaceTable([]);
    const lost = ['--since', '2026-11-20T10:00Z', '--until', '2026-11-20T10:09Z', '--go'];
    await recover(...lost, '--used', '700');
    expect(await usedOfDay()).toBe(701);
    await recover(...lost);
    expect(await usedOfDay()).toBe(1_202);
    await recover('--go');
    expect(await usedOfDay()).toBe(4_995);
  });

  it.each([
    ['by default', []],
    ['from the exact time of the restore', ['--since', '2026-11-20T10:30:02Z']],
  ])(
    'requests accepted deliveries, even if a restored table says that they were requested before: %s',
    async (_, since) => {
      relay.clock.now = Date.parse('2026-11-20T10:00Z');
      const event = issueEvent('opened', { id: 1 });
      github.issues.set(`${REPOSITORY}#1`, event.issue);
      // The first attempt fails, and the relay requests the delivery again just before the restore point.
      github.down = () => 502;
      const guid = await github.deliver(hook, 'issues', event);
      relay.clock.now = Date.parse('2026-11-20T10:30Z');
      const asked = keys.failedDelivery(`${targetName(hook)}#${hook.id}`, guid);
      await relay.stores.table.put({ ...asked, askedAt: relay.clock.now });
      const copy = relay.backUp();
      github.down = () => undefined;
      await github.redeliver(guid);
      expect(github.statuses(guid)).toEqual([502, 202]);
      relay.replaceTable(copy);
      expect(await recover(...since, '--go')).toContain('deliveries requested again: 1');
      relay.clock.now += 2 * 86_400_000;
      await relay.workToTheEnd();
      expect(defects()).toHaveLength(1);
    },
  );

  it("requests deliveries from just after --until, by GitHub's clock, but none that has arrived again since", async () => {
    await happens('opened', { id: 1 });
    const until = new Date(relay.clock.now - 30_000).toISOString();
    relay.replaceTable([]);
    const lost = ['--since', '2026-11-20T09:00Z', '--until', until];
    expect(await recover(...lost, '--go')).toContain('deliveries requested again: 1');
    expect(await recover(...lost, '--go')).toContain('deliveries requested again: 0');
  });

  it("takes the time from the table, even if this machine's clock is an hour behind", async () => {
    await happens('opened', { id: 1 });
    relay.replaceTable([]);
    const behind = openStores({ ...relay.runtime, clock: () => relay.clock.now - 3_600_000 });
    expect(await recoverAt(behind, '--go')).toContain('deliveries requested again: 1');
  });

  it('says how to see whether everything has arrived, and requests failed deliveries again', async () => {
    const copy = relay.backUp();
    await happens('opened', { id: 1 });
    const [{ guid } = { guid: '' }] = github.attempts;
    relay.replaceTable(copy);
    github.down = () => 502;
    const [, since = '', until = ''] =
      /arrived, run it again with --since (\S+) --until (\S+)\./.exec(await recover('--go')) ?? [];
    github.down = () => undefined;
    const again = ['--since', since, '--until', until];
    expect(await recover(...again, '--go')).toContain('deliveries requested again: 1');
    expect(github.statuses(guid)).toEqual([202, 502, 202]);
    expect(await recover(...again)).toContain(': 0 to ask for');
  });

  it('after a lost table, writes the links, gets the deliveries again, and creates no defect twice', async () => {
    await happens('opened', { id: 1, body: 'first' });
    await happens('opened', { id: 2, body: 'second' });
    await happens('edited', { id: 2, title: 'edited', seconds: 5 });
    expect(defects()).toHaveLength(2);
    relay.replaceTable([]);

    const plan = await recover();
    expect(plan).toContain('links: 2 to write, 0 there, 0 left to you');
    expect(plan).toContain(`${REPOSITORY}#1: defect ${defectOf(1)?.defect_id}`);
    expect(plan).toContain(`deliveries of repository ${REPOSITORY}: 3 to ask for`);
    expect(plan).toContain('Nothing was changed. Add --go to do it.');
    expect(await linkOf(1)).toEqual({ life: 'unclaimed' });
    expect(github.asked(github.attempts[0]?.guid ?? '')).toBe(0);

    const done = await recover('--go');
    expect(done).toContain("main: 4995 of the day's 5000 calls count as used");
    expect(done).toContain('2 links written');
    expect(done).toContain('deliveries requested again: 3');
    expect(await linkOf(2)).toMatchObject({
      life: 'made',
      defect: { id: defectOf(2)?.defect_id },
      newest: { name: `${REPOSITORY}#2`, state: { title: 'edited' } },
    });
    const searched = lists();
    relay.clock.now += 2 * 86_400_000;
    await relay.workToTheEnd();
    expect(await relay.jobs('succeeded')).toHaveLength(3);
    expect(defects()).toHaveLength(2);
    expect(lists()).toBe(searched);
  });

  it.each(['a lost table', 'a restored table'])('run again after %s, it changes nothing', async (what) => {
    await happens('opened', { id: 1 });
    const copy = relay.backUp();
    await happens('opened', { id: 2 });
    relay.replaceTable(what === 'a lost table' ? [] : copy);
    const since = ['--since', new Date(relay.clock.now - 3_600_000).toISOString()];
    const until = ['--until', new Date(relay.clock.now).toISOString()];
    const written = what === 'a lost table' ? 2 : 1;
    expect(await recover(...since, ...until, '--go')).toContain(`${written} link`);
    const [used, links] = [await usedOfDay(), [await linkOf(1), await linkOf(2)]];
    const again = await recover(...since, ...until, '--go');
    expect(again).toContain('links: 0 to write, 2 there, 0 left to you');
    expect(again).toContain('deliveries requested again: 0');
    expect([await linkOf(1), await linkOf(2)]).toEqual(links);
    expect(await usedOfDay()).toBe(used + 1);
  });
});
