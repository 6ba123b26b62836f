import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addBackfillCommand } from '../../cli/backfill.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

const REPOSITORY = 'Codertocat/Hello-World';

let relay: TestRelay;
let github: GithubApi;

beforeEach(async () => {
  github = await startGithubApi(() => relay.clock.now);
  relay = await startRelay({
    config: exampleConfig({ priority: { default: 'Medium' } }, { apiUrl: github.url }),
    github: { token: 'ghp_of_the_test' },
  });
});
afterEach(() => Promise.all([relay.close(), github.close()]));

/** Runs the command. @returns what it printed */
async function backfill(...words: string[]): Promise<string> {
  const program = new Command().exitOverride();
  const target = { githubWebhookUrl: relay.url, slackWebhookUrl: undefined, stores: relay.stores };
  addBackfillCommand(
    program,
    async () => target,
    async () => relay.runtime.config,
  );
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await program.parseAsync(['backfill', ...words], { from: 'user' });
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
    process.exitCode = undefined;
  }
}

const exists = (id: number, title: string) =>
  github.issues.set(`${REPOSITORY}#${id}`, issueEvent('opened', { id, title, seconds: id }).issue);

describe('relay backfill', () => {
  it('shows the plan and changes nothing, then begins with --go and ends with what is not done', async () => {
    exists(1, 'It \u001b[31mbreaks');
    exists(2, '');
    const plan = await backfill(REPOSITORY.toLowerCase());
    expect(plan).toContain('2 issues to take');
    expect(plan).toContain('#1  It \ufffd[31mbreaks: create, title, priority Medium');
    expect(plan).toMatch(/2 calls on the connection main, and no comments on GitHub; done by about \d{4}-\d\d-\d\d /);
    expect(plan).toContain('Nothing was changed. Add --go to begin.');
    expect(await relay.jobs()).toEqual([]);
    expect(await backfill()).toContain('There are no backfills.');

    expect(await backfill(REPOSITORY, '--go', '--no-wait')).toContain(
      'It has begun, and goes on without this terminal.',
    );
    expect(await backfill(REPOSITORY, '--go')).toContain('It is under way already.');
    expect(await backfill(REPOSITORY, '--pause')).toContain(`${REPOSITORY}: paused`);
    expect(await backfill(REPOSITORY, '--resume')).toContain(`${REPOSITORY}: running`);
    await relay.workToTheEnd();
    const shown = await backfill(REPOSITORY, '--status');
    expect(shown).toMatch(
      /finished, since .*\n\[█{30}\] {2}2 of 2 issues, 1 parked\n {2}#2 {2}parked: .*title.*\(job issue-/,
    );
    expect(await backfill()).toMatch(/finished .*2 of 2 issues/);
    expect(JSON.parse(await backfill(REPOSITORY, '--status', '--json'))).toMatchObject({
      counts: { done: 1, parked: 1 },
    });
  });

  it('prints with --json nothing that cannot be parsed: the plan, its beginning, and the list', async () => {
    exists(1, 'It breaks');
    const plan = { calls: 1, created: 1, comments: 0, connection: 'main', issues: [{ number: 1, title: 'It breaks' }] };
    expect(JSON.parse(await backfill(REPOSITORY, '--json'))).toMatchObject(plan);
    expect(JSON.parse(await backfill('--json'))).toEqual([]);
    const begun = { repository: REPOSITORY, status: 'running', expected: 1 };
    expect(JSON.parse(await backfill(REPOSITORY, '--go', '--no-wait', '--json'))).toMatchObject(begun);
    expect(JSON.parse(await backfill('--json'))).toMatchObject([begun]);
  });

  it.each([
    [['acme/other'], /turns no issues of acme\/other into defects; it is set for Codertocat\/Hello-World/],
    [[REPOSITORY, '--go', '--pause'], /only one of/],
    [[REPOSITORY, '--pause'], /no backfill of .* is under way/],
    [[REPOSITORY, '--status'], /begin one with --go/],
  ])('refuses %j', async (words, why) => {
    await expect(backfill(...words)).rejects.toThrow(why);
  });

  it('says when to try again if GitHub wants fewer requests', async () => {
    github.refusal = { status: 429, message: 'slow down', headers: { 'retry-after': '60' } };
    await expect(backfill(REPOSITORY)).rejects.toThrow(/GitHub wants fewer requests; try again at /);
  });

  it('says that it needs credentials for GitHub', async () => {
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github`, {});
    await expect(backfill(REPOSITORY)).rejects.toThrow(/there are no GitHub credentials in the secret/);
  });
});
