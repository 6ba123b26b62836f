import { beforeEach, describe, expect, it } from 'vitest';
import { privateKey } from '../github-identity.ts';
import { githubExamples, issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

type Fields = Record<string, unknown>;
const exampleOf = (event: string, action: string) => {
  const { examples = [] } = githubExamples.find(({ name }) => name === event) ?? {};
  return examples.find((one) => one.action === action) as Fields & Record<'pull_request' | 'merge_group', Fields>;
};
const example = exampleOf('pull_request', 'opened');
const HEAD = String(Object(example.pull_request.head).sha);
const REPOSITORY = 'Codertocat/Hello-World';
const repository = { full_name: REPOSITORY };
const TASK = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
const NO_TASK = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e99';

let relay: TestRelay;

async function start(connection = {}, secret: object = { appId: '12', privateKey }) {
  const checkPullRequest = { exemptLabels: ['No Task'] };
  const config = exampleConfig({}, { connection, checkPullRequest });
  relay = await startRelay({ config, github: { token: 'ghp_test', ...secret } });
}
beforeEach(() => start());

/** Sets the text of a pull request on GitHub, and returns the event. */
function changed(body: string | null, { action = 'edited', ...pull }: Fields = {}) {
  const stamp = `${new Date(relay.clock.now).toISOString().slice(0, 19)}Z`;
  const pull_request: Fields = { ...example.pull_request, body, updated_at: stamp, ...pull };
  relay.github.pulls.set(`${REPOSITORY}#${pull_request.number}`, pull_request);
  return { ...example, action, pull_request };
}
async function checkOf(body: string | null, pull: Fields = {}) {
  await relay.post('pull_request', changed(body, pull));
  await relay.work();
  return check();
}
const check = () => {
  const { conclusion, output } = relay.github.checkRuns.at(-1) ?? {};
  return `${conclusion}: ${output?.title}. ${output?.summary}`.replaceAll(/[\\\u200b]/g, '');
};
const rerun = (login = 'Codertocat') => {
  const completed_at = new Date(relay.clock.now).toISOString();
  const check_run = { id: 4, external_id: 'pull requests', head_sha: HEAD, completed_at };
  return relay.post('check_run', { action: 'rerequested', check_run, sender: { login }, repository });
};
/** Yields what the check says, until its job is done. */
async function* whileItWaits(): AsyncGenerator<string> {
  while ((await relay.jobs('waiting')).length > 0) {
    relay.clock.now += 2_000;
    await relay.sweep();
    await relay.work();
    yield check();
  }
}
async function makeDefect(number: number) {
  await relay.happens(issueEvent('opened', { id: number, number }));
}

const stranger = { user: { login: 'stranger' }, author_association: 'NONE' };

describe('the check of a pull request', () => {
  const IS = 'success: It is tracked. ';
  const IS_NOT = 'failure: Its task or issue was not found. ';
  const NAMES_NONE = 'failure: It names no task and closes no issue with a defect. ';
  it.each([
    ['a task', `Task: ${TASK}`, `${IS}It names the task ${TASK}, which exists.`],
    ['an issue with a defect', 'Fixes #7', `${IS}It closes ${REPOSITORY}#7, which has a defect.`],
    ['several things', `Task: ${NO_TASK}\n\nCloses #7`, `${IS}It closes`],
    ['a task that is not there', `Task: ${NO_TASK}`, `${IS_NOT}Partner Relay found nothing for task ${NO_TASK}.`],
    ['an issue without a defect', 'Closes #8', `${IS_NOT}Partner Relay found nothing for ${REPOSITORY}#8.`],
    [
      'an issue elsewhere',
      'Closes somebody/else#7',
      'failure: It closes no issue of this repository. Only issues of this repository count, and not somebody/else',
    ],
    ['the name of a task', 'Task: Release checkout 2.4', 'failure: It names a task without its id. Write'],
    ['nothing', null, `${NAMES_NONE}Write \`Closes #12\``],
    ['something in code', `\`Task: ${TASK}\``, `${NAMES_NONE}Write`],
  ])('says what it found about %s', async (_, body, said) => {
    await makeDefect(7);
    expect(await checkOf(body)).toContain(said);
    expect(relay.github.checkRuns).toMatchObject([{ name: 'Tracked work', repository: REPOSITORY, head_sha: HEAD }]);
  });

  // Each replaces "Closes #7", which is tracked.
  it.each([
    ...['Closes: #7', '- fixes #7.', '**Resolves** #7 and more', 'Closes codertocat/hello-world#7'],
    ...['It costs $5. Closes #7', 'About ~5 of ~6. Closes #7<br>', 'Closes<!-- the issue --> #7'],
    ...[`Fixed https://github.com/${REPOSITORY}/issues/7`, `Fixed <https://github.com/${REPOSITORY}/issues/7>`],
  ])('counts what a reader sees as a reference: %j', async (body) => {
    await makeDefect(7);
    expect(await checkOf(body)).toContain('success: It is tracked. It closes');
  });

  // comment-lines.test.ts has the table of Markdown that hides a whole line.
  it.each([
    ...['`Closes #7`', 'Closes ![#7](a.png)', '[Closes #7](https://evil.example)', 'Closes [#7](https://evil.example)'],
    ...['Closes \\#7', 'Closes &#35;7', 'Closes &num;7', 'Closes&nbsp;#7', 'Closes codertocat\\/hello-world#7'],
    ...['Closes #\u200b7', 'Closes\u200b #7', 'Clo\u200bses #7', 'Closes #\u20607', 'Closes\u00a0#7'],
    ...['Closes #7\u00ad1', 'Closes #7&shy;1', 'Closes #7&#49;', 'Closes #7<b>1</b>', 'un\u00adcloses #7'],
    ...['\u0443closes #7', 'Cl\u00adoses #7', 'Closes\ufeff#7', 'Closes #\ufe0f7', 'Closes #\u202e7', 'Clos\u0435s #7'],
    ...['Closes #\uff17', 'Closes #07', 'Closes #7a', 'Closes #7_', 'uncloses #7', 'un-closes #7', 'Closes@#7'],
    ...['Closes #70', `Closes https://evil.example/${REPOSITORY}/issues/7`],
    ...[`Closes https://github.com/${REPOSITORY}/pull/7`, `Closes https://github.com/${REPOSITORY}/issues/7/edit`],
    `Closes https://github.com.evil.example/${REPOSITORY}/issues/7`,
  ])('does not count what a reader sees as no reference: %j', async (body) => {
    await makeDefect(7);
    expect(await checkOf(body)).toMatch(/^failure: (?:It names no task|Its task or issue was not found)/);
  });

  it('is one check, which follows the current pull request', async () => {
    expect(await checkOf(null, { action: 'opened' })).toContain('failure');
    const old = changed(null, { labels: [] });
    expect(await checkOf(`Task: ${TASK}`)).toContain('success');
    await relay.post('pull_request', { ...old, action: 'labeled' });
    await relay.work();
    expect(check()).toContain('success');
    expect(relay.github.checkRuns).toHaveLength(1);
  });

  it('names no title, and shows no difference between hidden and missing objects', async () => {
    const there = await checkOf(`Task: ${TASK}`);
    expect(there).not.toContain('Release checkout');
    const missing = await checkOf(`Task: ${NO_TASK}`);
    relay.sandbox.data.tasks.length = 0;
    relay.clock.now += 25 * 3_600_000;
    expect((await checkOf(`Task: ${TASK}`)).replace(TASK, '')).toBe(missing.replace(NO_TASK, ''));
  });

  it.each([
    ['a task that was found', TASK, 1, 1],
    ['one that was not, for a shorter time', NO_TASK, 1, 2],
  ])('asks the service once about %s', async (_, task, soon, later) => {
    await checkOf(`Task: ${task}`);
    await checkOf(`Once more.\n\nTask: ${task}`);
    expect(relay.requestsTo('/tasks/detail')).toBe(soon);
    relay.clock.now += 11 * 60_000;
    await checkOf(`And later.\n\nTask: ${task}`);
    expect(relay.requestsTo('/tasks/detail')).toBe(later);
  });

  it('looks again when a person presses Re-run', async () => {
    expect(await checkOf(`Task: ${NO_TASK}`)).toContain('failure');
    relay.addTasks({ [NO_TASK]: 'Found later' });
    relay.github.roles?.set('Codertocat', 'write');
    await rerun();
    await relay.work();
    expect(check()).toContain('success');
    expect(relay.github.checkRuns).toHaveLength(1);
  });

  const other = (fields: Fields = {}) => ({ id: 21, number: 21, ...fields });
  const elsewhere = { base: { ref: 'release', repo: { default_branch: 'master' } } };
  it.each<[string, string | null, Fields, string | null, Fields, string]>([
    ['of two, the strictest counts', 'Closes #8', {}, `Task: ${TASK}`, other(), 'failure'],
    ['both are tracked', `Task: ${TASK}`, {}, 'Closes #7', other(), 'success'],
    ["a stranger's adds nothing to a tracked commit", `Task: ${TASK}`, {}, null, other(stranger), 'success'],
    ["a stranger's adds nothing to an untracked commit", null, {}, `Task: ${TASK}`, other(stranger), 'failure'],
    ['one into another branch adds nothing', null, {}, `Task: ${TASK}`, other(elsewhere), 'failure'],
    ['one into another branch is not checked', `Task: ${TASK}`, elsewhere, 'Closes #7', other(elsewhere), 'neutral'],
  ])('belongs to one commit: %s', async (_, body, fields, otherBody, otherFields, conclusion) => {
    await makeDefect(7);
    await checkOf(body, fields);
    await checkOf(otherBody, otherFields);
    expect(relay.github.checkRuns).toMatchObject([{ head_sha: HEAD, conclusion }]);
  });

  it('is verified for one stranger when a person presses Re-run, whatever another stranger opens with the same commit', async () => {
    await makeDefect(7);
    await checkOf('Closes #7', stranger);
    expect(await checkOf(null, other(stranger))).toContain('neutral');
    relay.github.roles?.set('Codertocat', 'write');
    await rerun();
    await relay.work();
    expect(relay.github.checkRuns).toMatchObject([{ head_sha: HEAD, conclusion: 'success' }]);
  });

  it.each<[string, Fields]>([
    ['is closed', { action: 'closed', state: 'closed' }],
    ['goes to another branch', elsewhere],
    ['gets another commit', { action: 'synchronize', head: { sha: 'c'.repeat(40) } }],
  ])('is decided again when a pull request with the commit %s', async (_, change) => {
    await checkOf(`Task: ${TASK}`);
    expect(await checkOf(null, other())).toContain('failure');
    const { action = 'edited', ...pull } = change;
    const changedNow = changed(null, { ...other(), ...pull, action });
    await relay.post('pull_request', { ...changedNow, ...(action === 'synchronize' && { before: HEAD }) });
    await relay.work();
    expect(relay.github.checkRuns[0]).toMatchObject({ head_sha: HEAD, conclusion: 'success' });
  });

  it('fails even while the service is down, if a pull request that needs no call fails', async () => {
    expect(await checkOf(null)).toContain('failure');
    relay.sandbox.setFault({ kind: 'maintenance', times: 4 });
    await checkOf(`Task: ${TASK}`, other());
    for await (const said of whileItWaits()) expect(said).toContain('failure');
    expect(check()).toContain('The strictest result counts; it is that of');
  });

  it('finds the pull requests with the commit among more than a hundred', async () => {
    for (let number = 100; number < 250; number++) changed(null, { number, head: { sha: 'd'.repeat(40) } });
    expect(await checkOf(`Task: ${TASK}`)).toContain('success');
  });

  it('passes in a merge queue if it is required there, too', async () => {
    const { merge_group } = exampleOf('merge_group', 'checks_requested');
    await relay.post('merge_group', { action: 'checks_requested', merge_group, repository });
    await relay.work();
    expect(relay.github.checkRuns).toMatchObject([{ head_sha: merge_group.head_sha, conclusion: 'success' }]);
  });

  it.each([
    ['a bot', { user: { login: 'renovate[bot]', type: 'Bot' } }, 'neutral: Exempt: its author is a bot.'],
    ['a label', { labels: [{ name: 'no task' }] }, 'neutral: Exempt by a label. The label no task exempts it.'],
  ])('is exempted by %s', async (_, pull, said) => {
    expect(await checkOf(`Task: ${TASK}`, pull)).toContain(said);
    expect(relay.requestsTo('/tasks/detail')).toBe(0);
  });

  it("does not look up references in a stranger's pull request, until a collaborator presses Re-run", async () => {
    await makeDefect(7);
    for (const body of [`Task: ${TASK}`, 'Closes #7', 'Closes #8', null]) {
      expect(await checkOf(body, stranger)).toMatch(/^neutral: Not verified: its author is not a collaborator/);
    }
    await checkOf(`Task: ${TASK}`, stranger);
    await rerun('stranger');
    await relay.work();
    expect(relay.requestsTo('/tasks/detail')).toBe(0);
    relay.github.roles?.set('maintainer', 'triage');
    relay.clock.now += 60_000;
    await rerun('maintainer');
    await relay.work();
    expect(check()).toContain('success: It is tracked');
  });

  it("parks only a collaborator's job, not those of strangers or bots, if the App may not write checks", async () => {
    await start({}, {});
    const bot = { user: { login: 'some[bot]', type: 'Bot' } };
    for (const pull of [stranger, bot, other(bot)]) await checkOf(null, pull);
    expect(await relay.jobs('parked')).toEqual([]);
    await checkOf('Names nothing');
    expect(await relay.jobs('parked')).toMatchObject([{ parked: { reason: expect.stringContaining('GitHub App') } }]);
  });

  it('passes for now while the service is down, and is right in the end', async () => {
    relay.sandbox.setFault({ kind: 'maintenance', times: 4 });
    expect(await checkOf(`Task: ${NO_TASK}`)).not.toContain('success');
    const seen = await Array.fromAsync(whileItWaits());
    expect(seen.join()).toContain('neutral: Not verified yet. The service cannot be reached at the moment.');
    expect(check()).toContain('failure: Its task or issue was not found');
  });

  it('passes for now while no calls are left for the day', async () => {
    await start({ limits: { perDay: 20 } });
    for (let id = 20; id < 44; id++) await relay.post('issues', issueEvent('opened', { id, number: id }));
    await relay.work();
    expect(await checkOf(`Task: ${NO_TASK}`)).toContain(
      'neutral: Not verified yet. Partner Relay needs its calls to the service',
    );
  });

  it('passes while the defect of an issue has yet to be created', async () => {
    relay.sandbox.setFault({ kind: 'maintenance' });
    await relay.post('issues', issueEvent('opened', { id: 7, number: 7 }));
    await relay.work();
    expect(await checkOf('Closes #7')).toContain('neutral: Its defect is being created');
  });

  it.each([
    ['check_run', 'completed', 'a check run that is completed changes nothing'],
    ['check_run', 'rerequested', 'not of a pull request that Partner Relay checks'],
    ['merge_group', 'destroyed', 'a merge group that is destroyed needs no check'],
  ])('is not made for %s: %s', async (event, action, reason) => {
    const about = { id: 1, external_id: '', head_sha: 'a' };
    const sender = { login: 'Codertocat' };
    const { answer } = await relay.post(event, { action, sender, repository, check_run: about, merge_group: about });
    expect(answer.ignored).toContain(reason);
  });

  it('is off by default', async () => {
    relay = await startRelay({ github: { appId: '12', privateKey } });
    expect((await relay.post('pull_request', changed(`Task: ${TASK}`))).answer.ignored).toBeDefined();
    expect((await rerun()).answer.ignored).toContain('is not configured for check-pull-request');
  });
});
