import { beforeEach, describe, expect, it } from 'vitest';
import { resolveJob } from '../../lib/engine/operate/resolve.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import { createVerifyCreated } from '../../lib/engine/operate/verify-created.ts';
import { createRelations } from '../../lib/links/relations.ts';
import { issueEvent } from '../issue-events.ts';
import { mergedPayload } from '../kill/github-payloads.ts';
import { mutate } from '../mutated-service.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';
import { ask, PLATFORM } from '../slack-requests.ts';

type Fields = Record<string, unknown>;

const REPOSITORY = 'Codertocat/Hello-World';
/** A task of the sandbox's seed. */
const TASK = { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01', name: 'Release checkout 2.4' };
const OTHER_TASK = { id: 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e02' };
const CASE = 'e57a8c31-6d02-4b9f-a4c3-1b8e2f7d6a02';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ github: { token: 'ghp_test' } });
});

/** The defect that the relay made. */
const made = () => relay.sandbox.data.defects.at(-1);
const linked = () => {
  const { task_id, test_case_id, test_step_id } = made() ?? {};
  return { task_id, test_case_id, test_step_id };
};
const none = { task_id: null, test_case_id: null, test_step_id: null };
const said = () => relay.github.comments.map(({ body }) => body.replaceAll(/[\\\u200b]/g, '').split('\n')[0]);

async function happens(event: string, payload: object): Promise<void> {
  expect((await relay.post(event, payload)).status).toBe(202);
  await relay.workToTheEnd();
}

const issue = (action: string, body: string, fields: Fields = {}) => issueEvent(action, { body, ...fields });
const edit = (from: string, body: string, { login = 'Codertocat', ...fields }: Fields = {}) =>
  issue('edited', body, { seconds: 60, extra: { changes: { body: { from } }, sender: { login } }, ...fields });

describe('a line in an issue', () => {
  it.each<[string, string, object]>([
    ['the id of a task', `It crashes.\n\nTask: ${TASK.id}`, { task_id: TASK.id }],
    ['the name of a task', `- task: ${TASK.name.toUpperCase()}`, { task_id: TASK.id }],
    ['a test case', `Test case: #${CASE}.`, { test_case_id: CASE }],
    ['a test step', 'Test step: 2', { test_step_id: 2 }],
    ['several', `Task: ${TASK.id}\nTest case: ${CASE}\nTask: ${TASK.id}`, { task_id: TASK.id, test_case_id: CASE }],
    ['a numbered list', `1. Task: ${TASK.id}`, { task_id: TASK.id }],
    ['bold text', `**Test case**: ${CASE}`, { test_case_id: CASE }],
    ['italic text', `_Task:_ ${TASK.id}`, { task_id: TASK.id }],
    // comment-lines.test.ts has the table of other Markdown that hides a line.
    ['code', `\`Task: ${TASK.id}\``, {}],
    ['words', 'Test case: all of them', {}],
  ])("links the issue's defect to the object that it names: %s", async (_, body, expected) => {
    await happens('issues', issue('opened', body));
    expect(linked()).toEqual({ ...none, ...expected });
    const ids = Object.values(expected).map((id) => expect.stringContaining(` ${id}`));
    expect(said()).toEqual(expect.arrayContaining(ids));
    expect(said()).toHaveLength(1 + ids.length);
    expect(relay.requestsTo('/defects/link')).toBe(ids.length);
  });

  it('waits until the issue has the label, and is not sent again after that', async () => {
    const body = `Task: ${TASK.id}`;
    await happens('issues', issue('opened', body, { labels: [] }));
    expect(relay.requestsTo('/defects/link')).toBe(0);
    await happens('issues', issue('labeled', body, { seconds: 1 }));
    expect(linked()).toEqual({ ...none, task_id: TASK.id });
    await happens('issues', issue('unlabeled', body, { seconds: 2, labels: [] }));
    await happens('issues', issue('labeled', body, { seconds: 3 }));
    expect([relay.requestsTo('/defects/link'), said().length]).toEqual([1, 2]);
  });

  it('an edit makes the links that it adds, and removes none', async () => {
    const before = `Task: ${TASK.id}`;
    await happens('issues', issue('opened', before));
    await happens('issues', edit(before, `Task: ${OTHER_TASK.id}`));
    expect([linked().task_id, relay.requestsTo('/defects/link')]).toEqual([OTHER_TASK.id, 2]);
    expect(said().slice(2)).toEqual([
      expect.stringContaining(`Linked defect ${made()?.defect_id} to task ${OTHER_TASK.id}`),
    ]);
    await happens('issues', edit('', before, { seconds: 120 }));
    expect(relay.requestsTo('/defects/link')).toBe(2);
    expect(said()).toHaveLength(3);
  });

  it.each([
    ['a stranger', { user: { login: 'mallory', type: 'User' }, author_association: 'NONE' }, 'NONE'],
    ['a member who may only read', { user: { login: 'ada', type: 'User' }, author_association: 'MEMBER' }, 'MEMBER'],
    ['a bot', { user: { login: 'helper[bot]', type: 'Bot' }, author_association: 'MEMBER' }, 'Bot'],
  ])('does not count if its author may not give commands: %s', async (_, author, who) => {
    relay.github.roles = new Map([['helper[bot]', 'write']]);
    await happens('issues', issue('opened', `Task: ${TASK.id}`, author));
    expect([made()?.title, relay.requestsTo('/defects/link')]).toEqual([expect.any(String), 0]);
    expect(said()).toHaveLength(who === 'MEMBER' ? 2 : 1);
  });

  it("of a collaborator counts in a stranger's issue", async () => {
    relay.github.roles = new Map([['ada', 'triage']]);
    const stranger = { user: { login: 'mallory', type: 'User' }, author_association: 'NONE' };
    await happens('issues', issue('opened', 'It crashes.', stranger));
    await happens('issues', edit('It crashes.', `Task: ${TASK.id}`, { ...stranger, login: 'mallory' }));
    expect(relay.requestsTo('/defects/link')).toBe(0);
    await happens('issues', edit('It crashes.', `Task: ${TASK.id}`, { ...stranger, login: 'ada', seconds: 61 }));
    expect(linked()).toEqual({ ...none, task_id: TASK.id });
  });

  it.each([
    [
      'a task that is not there',
      'Task: Make coffee',
      'No task has the name “Make coffee”, or a name that begins with it. Nothing was linked',
      0,
    ],
    ['an id that is not there', 'Task: 4711', 'there is no task 4711', 1],
    ['a name that the service refuses to search for', 'Task: ab', 'The service refuses this search', 0],
    ['a name that is a beginning', 'Task: Release', `Did you mean this? Task ${TASK.id}`, 0],
  ])('tells its author what is wrong: %s', async (_, body, words, sent) => {
    await mutate(relay, { reads: (payload) => (payload.q === 'ab' ? { refused: 422 } : payload) });
    await happens('issues', issue('opened', body));
    expect(said()).toContainEqual(expect.stringContaining(words));
    expect(said()).toContainEqual(
      expect.stringContaining('If you correct the line in the description, Partner Relay reads it again'),
    );
    expect([linked(), relay.requestsTo('/defects/link')]).toEqual([none, sent]);
  });

  it('has no effect if the repository does not have relate', async () => {
    const { github: settings, ...config } = relay.runtime.config;
    const repositories = settings.repositories.map((repository) => ({ ...repository, relate: false }));
    relay = await startRelay({ config: { ...config, github: { ...settings, repositories } } });
    await happens('issues', issue('opened', `Task: ${TASK.id}`));
    expect([linked(), await relay.jobs()]).toEqual([
      none,
      [expect.objectContaining({ automation: 'issue-to-defect' })],
    ]);
  });
});

// check-pull-request.test.ts has the table of references.
it.each([
  ['Closes #1', true],
  ['See #1', false],
  ['Closes #2', false],
])('a pull request links the defect of the issue that it closes, once it is merged: %s', async (closes, isLinked) => {
  await happens('issues', issue('opened', 'It crashes.'));
  const body = `${closes}\n\nTest case: ${CASE}`;
  const merged = mergedPayload(7, body);
  const elsewhere = { ...merged.pull_request, base: { ref: 'feature', repo: { default_branch: 'master' } } };
  await relay.post('pull_request', { ...merged, action: 'opened' });
  await relay.post('pull_request', { ...merged, pull_request: elsewhere });
  await relay.work();
  expect(relay.requestsTo('/defects/link')).toBe(0);
  await happens('pull_request', merged);
  expect(linked().test_case_id).toBe(isLinked ? CASE : null);
  expect(relay.github.comments.filter(({ issue }) => issue === `${REPOSITORY}#7`)).toHaveLength(isLinked ? 1 : 0);
});

it('an edit of a merged pull request makes the links that it adds', async () => {
  await happens('issues', issue('opened', 'It crashes.'));
  const merged = mergedPayload(7, 'Closes #1');
  await relay.post('pull_request', merged);
  const pull = { ...merged.pull_request, body: `Closes #1\n\nTest case: ${CASE}`, updated_at: '2026-11-20T12:00:00Z' };
  await happens('pull_request', {
    ...merged,
    action: 'edited',
    pull_request: pull,
    changes: { body: { from: 'Closes #1' } },
  });
  expect(linked()).toEqual({ ...none, test_case_id: CASE });
});

it.each([
  ['GitHub shows it', true],
  ['GitHub does not show it', false],
])('a pull request that is merged before the delivery of its issue waits for it: %s', async (_, isShown) => {
  const opened = issue('opened', 'It crashes.');
  if (isShown) relay.github.issues.set(`${REPOSITORY}#1`, opened.issue);
  await relay.post('pull_request', mergedPayload(7, `Closes #1\n\nTest case: ${CASE}`));
  await relay.pass(24 * 3_600_000, 15 * 60_000);
  expect(await relay.jobs('succeeded')).toEqual([]);
  await happens('issues', opened);
  expect(linked()).toEqual({ ...none, test_case_id: CASE });
});

it('a pull request does not wait if it closes an issue without a label for defects', async () => {
  relay.github.issues.set(`${REPOSITORY}#1`, issue('opened', 'A question.', { labels: [] }).issue);
  await relay.post('pull_request', mergedPayload(7, `Closes #1\n\nTest case: ${CASE}`));
  await relay.work();
  expect(await relay.jobs()).toMatchObject([{ outcome: 'nothing to do: the issue has no defect' }]);
});

describe("links to the service's pages", () => {
  const web = {
    defects: 'https://pm.example.com/defects/{id}',
    tasks: 'http://localhost:8080/t?task={id}&tab=1',
    testSteps: 'https://pm.example.com/steps/{id}',
  };
  beforeEach(async () => {
    const config = exampleConfig({}, { connection: { web } });
    relay = await startRelay({ config, github: { token: 'ghp_test' } });
  });

  it('comments link to the objects that they name', async () => {
    await happens('issues', issue('opened', `Task: ${TASK.id}\nTest case: ${CASE}`));
    const id = made()?.defect_id;
    const defect = `[defect ${id}](<https://pm.example.com/defects/${id}>)`;
    const bodies = relay.github.comments.map(({ body }) => body);
    expect(bodies[0]).toContain(`Created ${defect} from this issue.`);
    expect(bodies.slice(1)).toEqual([
      expect.stringContaining(
        `${defect}\n\n[task ${TASK.id}](<http://localhost:8080/t?task=${TASK.id}&tab=1>)\n\n<!--`,
      ),
      expect.stringContaining(`${defect}\n\n<!--`),
    ]);
  });

  it('messages in Slack link to the objects that they name, and no id breaks out of its link', async () => {
    const strange = 'A1>|*(x)';
    const [example = expect.fail('there is no task')] = relay.sandbox.data.tasks;
    relay.sandbox.data.tasks.unshift({ ...example, task_id: strange, title: 'Odd one' });
    await ask(relay, 'find Odd one');
    await ask(relay, 'defect A new one', { channelId: PLATFORM });
    const sections = relay.slack.messages.flatMap(({ blocks = [] }) =>
      blocks.flatMap((block) => (block.type === 'section' && block.text?.type === 'mrkdwn' ? block.text.text : [])),
    );
    const id = made()?.defect_id;
    expect(sections).toContain('<http://localhost:8080/t?task=A1%3E%7C*(x)&amp;tab=1|task A1&gt;  (x)>');
    expect(sections).toContain(`<https://pm.example.com/defects/${id}|defect ${id}>`);
  });
});

describe('/pm relate', () => {
  it.each([
    ['task', TASK.id, { task_id: TASK.id }],
    ['Case', CASE, { test_case_id: CASE }],
    ['step', 2, { test_step_id: 2 }],
  ])('links a defect to a %s, once', async (what, id, expected) => {
    await happens('issues', issue('opened', 'It crashes.'));
    const command = `relate ${made()?.defect_id} ${what} #${id}`;
    expect((await ask(relay, command)).inTheEnd).toMatch(new RegExp(`Linked defect .* ${id}`));
    expect(linked()).toEqual({ ...none, ...expected });
    relay.clock.now += 3 * 60_000;
    expect((await ask(relay, command)).inTheEnd).toMatch(/Nothing to do: defect \S+ is already linked to /);
    expect(relay.requestsTo('/defects/link')).toBe(1);
    const kept = await createRelations(relay.stores.table).of({ connection: 'main', id: made()?.defect_id ?? '' });
    expect(kept).toMatchObject([{ id: String(id) }]);
  });

  it.each([
    ['relate', 'relate needs the id of a defect'],
    ['relate 4711 12', 'relate needs the word task, case or step'],
    ['relate 4711 project 12', 'A defect can be linked to a task, a case or a step, not to “project”.'],
    ['relate 4711 case', 'relate needs the id of a test case'],
    ['relate 4711 task 12', 'Could not link defect 4711 to task 12: there is no task 12'],
    [
      'relate 4711 case 12',
      'Could not link defect 4711 to test case 12: either defect 4711 or test case 12 does not exist in the service',
    ],
    ['relate A B', '“A” is not the id of a defect'],
    ['relate 4711 task B', '“B” is not the id of a task'],
    [
      `relate ${TASK.id} task 4711`,
      `${TASK.id} is the id of a task, not of a defect. Did you mean /pm relate 4711 task ${TASK.id}?`,
    ],
    [`relate ${TASK.id} task ${OTHER_TASK.id}`, `${TASK.id} is the id of a task, not of a defect`],
    [`relate 4711 task ${TASK.id}`, 'there is no defect 4711'],
  ])('says what is wrong: %s', async (text, words) => {
    const { atOnce, inTheEnd } = await ask(relay, text);
    expect(atOnce + inTheEnd).toContain(words);
  });

  it('is not sent again while its outcome is unknown, or after a person has decided it', async () => {
    await happens('issues', issue('opened', 'It crashes.'));
    relay.sandbox.setFault({ kind: 'cut', when: 'after work', operation: '/defects/link', times: 1 });
    const command = `relate ${made()?.defect_id} task ${TASK.id}`;
    await ask(relay, command);
    await relay.workToTheEnd();
    const [parked = expect.fail('no job is parked')] = await relay.jobs('parked');
    expect(parked.parked?.kind).toBe('outcome unknown');
    const askAgain = async () => {
      relay.clock.now += 3 * 60_000;
      return (await ask(relay, command)).inTheEnd;
    };
    expect(await askAgain()).toContain(`Nothing to do: job ${parked.id} links`);
    const verify = createVerifyCreated(relay.runtime.config, () => Promise.reject(new Error('nothing is read')));
    await resolveJob(parked, { done: 'linked', verify }, { ...relay.stores, by: 'a test' });
    expect(await askAgain()).toMatch(/Nothing to do: defect \S+ is already linked to task /);
    expect([relay.requestsTo('/defects/link'), await relay.jobs('parked')]).toEqual([2, []]);
  });

  it.each([
    ['at once', 3 * 60_000],
    ['after its record has expired', 31 * 86_400_000],
  ])('may be linked by another job after the first was discarded: %s', async (_, later) => {
    await happens('issues', issue('opened', 'It crashes.'));
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/defects/link', times: 40 });
    const command = `relate ${made()?.defect_id} step 2`;
    await ask(relay, command);
    await relay.workToTheEnd();
    const [parked = expect.fail('no job is parked')] = await relay.jobs('parked');
    relay.sandbox.clearFaults();
    relay.clock.now += 11 * 60_000;
    await discardJob(parked, { by: 'a test', reason: 'it was not linked' }, relay.stores);
    await relay.workToTheEnd();
    relay.clock.now += later;
    expect((await ask(relay, command)).inTheEnd).toContain('Linked defect');
    expect(linked().test_step_id).toBe(2);
    relay.clock.now += 31 * 86_400_000;
    expect((await ask(relay, command)).inTheEnd).toContain('is already linked to');
  });
});
