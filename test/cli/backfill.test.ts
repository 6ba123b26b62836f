import { beforeEach, describe, expect, it } from 'vitest';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { runRelayOf } from './run-command.ts';

const REPOSITORY = 'Codertocat/Hello-World';

let relay: TestRelay;

beforeEach(async () => {
  relay = await startRelay({
    config: exampleConfig({ priority: { default: 'Medium' } }),
    github: { token: 'ghp_of_the_test' },
  });
});

const run = (...words: string[]) => runRelayOf(relay, words);

const backfill = (...words: string[]) => run('backfill', ...words);

const exists = (id: number, title: string) =>
  relay.github.issues.set(`${REPOSITORY}#${id}`, issueEvent('opened', { id, title, seconds: id }).issue);

describe('relay backfill', () => {
  it('shows the plan and changes nothing, then stores the jobs with --go, as often as requested', async () => {
    exists(1, 'It \u001b[31mbreaks');
    exists(2, '');
    const plan = await backfill(REPOSITORY.toLowerCase());
    expect(plan).toContain('2 issues to take');
    expect(plan).toContain('#1  It \ufffd[31mbreaks: create, title, priority Medium');
    expect(plan).toMatch(/2 calls on the connection main, and no comments on GitHub; done by about \d{4}-\d\d-\d\d /);
    expect(plan).toContain('Nothing was changed. Add --go to begin.');
    expect(await relay.jobs()).toEqual([]);

    const begun = await backfill(REPOSITORY, '--go');
    expect(begun).toContain('Stop with Ctrl+C, and continue with the same command.');
    const stored = /All issues are read: 2 jobs stored, 0 issues without a call\. See them with: .* --lane backfill$/;
    expect(begun).toMatch(stored);
    expect(await backfill(REPOSITORY, '--go')).toContain('0 jobs stored, 2 under way already, 0 issues without a call');
    await relay.workToTheEnd();
    expect(await backfill(REPOSITORY, '--go')).toContain('0 jobs stored, 1 parked, 1 issue without a call');
  });

  it('its jobs begin at once, before any sweep', async () => {
    for (const id of [1, 2, 3]) exists(id, `Issue ${id}`);
    await backfill(REPOSITORY, '--go');
    for (let second = 0; second < 8; second++, relay.clock.now += 1_000) await relay.work();
    expect((await relay.jobs()).map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
  });

  it('prints only valid JSON with --json: the plan, and the stored jobs', async () => {
    exists(1, 'It breaks');
    const plan = { calls: 1, created: 1, comments: 0, connection: 'main', issues: [{ number: 1, title: 'It breaks' }] };
    expect(JSON.parse(await backfill(REPOSITORY, '--json'))).toMatchObject(plan);
    const stored = { stored: 1, underWay: 0, parked: 0, unchanged: 0 };
    expect(JSON.parse(await backfill(REPOSITORY, '--go', '--json'))).toEqual(stored);
  });

  it('refuses a repository that is not configured', async () => {
    const why = /turns no issues of acme\/other into defects; it is set for Codertocat\/Hello-World/;
    await expect(backfill('acme/other')).rejects.toThrow(why);
  });

  it('jobs and discard choose the jobs that wait in its lane', async () => {
    for (const id of [1, 2]) exists(id, `Issue ${id}`);
    await relay.post('issues', issueEvent('opened', { id: 3 }));
    await backfill(REPOSITORY, '--go');
    const listed = /2 of the newest jobs wait for one reason, the oldest.*Listed: 2 waiting\./s;
    expect(await run('jobs', '--lane', 'backfill')).toMatch(listed);
    const chosen = ['discard', '--lane', 'backfill', '--reason', 'the wrong label'];
    expect(await run(...chosen)).toContain('Add --yes to discard these 2 jobs.');
    expect(await run(...chosen, '--yes')).toMatch(/^issue-\S+ is discarded\nissue-\S+ is discarded$/);
    await relay.workToTheEnd();
    const discarded = (await relay.jobs()).filter((job) => job.discarded);
    expect(discarded.map(({ lane, status }) => [lane, status])).toEqual(Array(2).fill(['backfill', 'not-done']));
    await expect(run(...chosen)).rejects.toThrow('no job waits in the lane backfill');
    await expect(run(...chosen, '--parked-for', 'x')).rejects.toThrow('leave out the id and --parked-for');
  });

  it('says when to try again if GitHub wants fewer requests', async () => {
    relay.github.refusal = { status: 429, message: 'slow down', headers: { 'retry-after': '60' } };
    await expect(backfill(REPOSITORY)).rejects.toThrow(/GitHub wants fewer requests; try again at /);
  });

  it('says that it needs credentials for GitHub', async () => {
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github`, {});
    await expect(backfill(REPOSITORY)).rejects.toThrow(/there are no GitHub credentials in the secret/);
  });
});
