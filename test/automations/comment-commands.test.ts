import { beforeEach, describe, expect, it } from 'vitest';
import { defineConfig } from '../../lib/config/schema.ts';
import { discardJob } from '../../lib/engine/operate/resume.ts';
import type { MadeComment } from '../../local/github/stand-in.ts';
import type { GithubApi } from '../github-api.ts';
import { exampleOf } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

type Fields = Record<string, unknown>;

interface CommentEvent extends Fields {
  comment: Fields;
}

const example = (action: string) => exampleOf('issue_comment', action) as CommentEvent;

const codertocat = {
  github: 'Codertocat',
  githubId: 21_031_067,
  email: 'mira.novak@example.com',
  timeZone: 'Europe/Berlin',
};

const WRITTEN = { created_at: '2026-11-18T23:30:00Z', updated_at: '2026-11-18T23:30:00Z' };

/** GitHub's example of a comment, with another text. By default, the repository's owner wrote it. */
function created(body: string, comment: Fields = {}): CommentEvent {
  const event = example('created');
  const written: Fields = { ...event.comment, ...WRITTEN, id: 1, body, ...comment };
  return { ...event, comment: written, sender: written.user ?? event.sender };
}

/** GitHub's example of an edited comment, with another text. */
function edited(from: string, body: string, { by = 'Codertocat', ...comment }: Fields = {}): CommentEvent {
  const event = example('edited');
  return {
    ...event,
    comment: { ...event.comment, ...WRITTEN, id: 1, body, ...comment },
    changes: { body: { from } },
    sender: { ...(event.sender as Fields), login: by },
  };
}

let relay: TestRelay;
beforeEach(async () => {
  const config = exampleConfig({}, { people: [codertocat] });
  relay = await startRelay({ config, github: { token: 'ghp_test' } });
  relay.github.writtenAt = WRITTEN.created_at;
});

const post = async (event: CommentEvent) => (await relay.post('issue_comment', event)).answer;
/** Delivers comments, and works. @returns the answers on GitHub */
async function answers(...events: CommentEvent[]): Promise<string[]> {
  const before = relay.github.comments.length;
  for (const event of events) {
    await post(event);
    await relay.work();
  }
  return relay.github.comments
    .slice(before)
    .map(({ body }) => body.replace(/\n\n<!-- partner-relay [0-9a-f]{20} -->$/, ''));
}
/** The summaries of the jobs in an answer. */
const summaries = async ({ jobs }: Fields) =>
  Promise.all((jobs as string[]).map(async (id) => (await relay.stores.jobs.get(id))?.summary));
/** The end of the relay's comments. */
const MARK = '\n\n<!-- partner-relay 56b19cda93b61c0ba88e -->';
const EDITS = '\n\nPartner Relay has read this command and ignores edits of it. To correct it, write a new comment.';

describe('a comment by a collaborator', () => {
  it('a comment completes and reopens checklist items, and logs time for its author', async () => {
    const body = 'Thanks!\r\n\r\n/done 101 and 102\r\n/undo 103\r\n  /log 2h “Release checkout 2.4” wrote tests\r\nBye';
    expect(await answers(created(body))).toEqual([
      '✅ Completed checklist items 101 and 102',
      '✅ Set checklist item 103 to open',
      expect.stringMatching(
        // Everyone may read it. The day is the author's, however late the comment is delivered.
        /^✅ Logged 2h on task d94e6b20-[0-9a-f-]+, 2026-11-19, as time entry [0-9a-f-]+$/,
      ),
    ]);
    expect([relay.isCompleted(101), relay.isCompleted(102), relay.isCompleted(103)]).toEqual([true, true, false]);
    const [user_id, note] = [expect.stringMatching(/02$/), expect.stringMatching(/wrote tests/)];
    expect(relay.timelogs()).toMatchObject([{ user_id, hours: 2, note }]);
    expect(relay.github.comments.every(({ issue }) => issue === 'Codertocat/Hello-World#1')).toBe(true);
    expect(relay.github.comments.every(({ body }) => /\n\n<!-- partner-relay [0-9a-f]{20} -->$/.test(body))).toBe(true);
  });

  it('a command that appears twice in a comment runs once', async () => {
    expect((await post(created('/done 101\n\n/done 101\n/undo 101'))).jobs).toHaveLength(2);
  });

  it('a comment gets an answer if its command cannot be parsed or carried out', async () => {
    expect(
      await answers(
        created('/log 1h99m 4711'),
        created('/done 999', { id: 2 }),
        created('/log 1h 4711', { id: 3 }),
        created('/log 1h 2026-08-01 "Release checkout 2.4"', { id: 4 }),
      ),
    ).toEqual([
      '⚠️ “1h99m” has too many minutes. Did you mean 99m or 2h39m?\n\nIf you correct it in this comment, Partner Relay reads it again.',
      `⚠️ There is no checklist item 999. Nothing was completed.${EDITS}`,
      `⚠️ There is no task 4711. Write its id, or its whole name as the service shows it.${EDITS}`,
      '⚠️ 2026-08-01 is 109 days ago. If you mean that day, type the command in Slack: there you can confirm it.\n\nIf you correct it in this comment, Partner Relay reads it again.',
    ]);
    expect([await relay.jobs('parked'), relay.timelogs()]).toEqual([[], []]);
  });

  it.each([
    ['Login', 'No task has the name “Login”. Did you mean /log 1h ID?'],
    ['yesterday Login', 'No task has the name “Login”. Did you mean /log 1h 2026-11-18 ID?'],
    [
      'Login wrote tests',
      'No task has the name that you wrote, or a name that begins with it. Did you mean /log 1h ID \\<your note\\>?',
    ],
    ['monday Login with passkeys', 'Write a date instead of “monday”, such as 2026-11-16.'],
    [
      'Login with passkeys yesterday wrote tests',
      '“yesterday” may be the day or a part of the note. Write a date before the task, such as 2026-11-18, or put the note in quotation marks.',
    ],
    ['Login with passkeys 2026-02-30 wrote tests', '“2026-02-30” is not a date.'],
    ['yesterday Login with passkeys today', 'There are two days. Log one day at a time.'],
  ])('the answer to unclear time says what to write, without the note: /log 1h %s', async (typed, said) => {
    const [answer = ''] = await answers(created(`/log 1h ${typed}`));
    expect(answer.replace(/d94e6b20-[0-9a-f-]+/, 'ID')).toBe(`⚠️ ${said}${EDITS}`);
    expect(relay.timelogs()).toEqual([]);
    const [command] = /(?<=Did you mean )\/log 1h [^?\\]+/.exec(answer) ?? [];
    if (command) expect(await answers(created(command, { id: 2 }))).toEqual([expect.stringContaining('Logged 1h on')]);
  });

  it('the answers to a comment with several commands have their numbers', async () => {
    const all = await answers(created('/log 1h 4711\n/log 2h 4712'));
    expect(all).toContainEqual(expect.stringMatching(/^⚠️ There is no task 4711\./));
    expect(all).toContainEqual(expect.stringMatching(/^⚠️ Command 2: There is no task 4712\./));
  });

  it("the answer to a comment does not have the operator's reason for discarding its command", async () => {
    relay.sandbox.setFault({ kind: 'server-error', when: 'before work', operation: '/timelogs/create', times: 4 });
    await post(created('/log 1h "Release checkout 2.4"'));
    await relay.workToTheEnd();
    relay.clock.now += 3_600_000;
    const [parked = expect.fail('no job is parked')] = await relay.jobs('parked');
    const by = 'alice';
    await discardJob(parked, { by, reason: 'Mira left on bad terms' }, relay.stores);
    await relay.workToTheEnd();
    expect(relay.github.comments.at(-1)?.body).toMatch(
      /^⚠️ An administrator of Partner Relay has discarded this request\.\n/,
    );
    expect(JSON.stringify(relay.github.comments)).not.toContain('bad terms');
    const history = { decisions: { newest: [{ by, what: 'discarded', reason: 'Mira left on bad terms' }] } };
    expect(await relay.jobs()).toMatchObject([{ outcome: 'discarded: Mira left on bad terms', ...history }]);
  });

  it('the answer says that the service does not know the author', async () => {
    const user = { login: 'hubot', type: 'User' };
    relay.github.roles = new Map([[user.login, 'write']]);
    expect(await answers(created('/log 1h 4711', { user, author_association: 'MEMBER' }))).toEqual([
      `⚠️ Partner Relay does not know which user of the service @\u200bhubot is. Ask your Partner Relay administrator to add you to Partner Relay.${EDITS}`,
    ]);
    expect(relay.timelogs()).toEqual([]);
  });
});

describe('a comment that is deleted or changed before its command runs', () => {
  const LOG = '/log 2h “Release checkout 2.4”';
  const OLD = 'The comment is more than 30 days old, so nothing was done';
  const OTHER_TIME =
    'GitHub shows that this comment was written at another time than the event says, so nothing was done';
  const CHANGED = 'The comment no longer has this command, so nothing was done';

  it.each<[string, (Partial<GithubApi> & { text?: string | null }) | undefined, string?]>([
    ['unchanged', {}],
    ['changed elsewhere', { text: `Hello\n\n${LOG}\n` }],
    ['not to be read', undefined],
    ['deleted', { text: null }, 'The comment was deleted, so nothing was done'],
    ['changed', { text: '/log 3h “Release checkout 2.4”' }, CHANGED],
    ['made a quotation', { text: `> ${LOG}` }, CHANGED],
    ['by the author, in other letters', { author: 'codertocat' }],
    ['by another person', { author: 'mallory' }, 'another author for this comment'],
    ['by another account of that login', { authorIs: { id: 666, type: 'User' } }, 'is not the GitHub account that'],
    ['by a bot', { authorIs: { id: 21_031_067, type: 'Bot' } }, 'The comment is by a program'],
    ["the relay's own", { text: `${LOG}${MARK}` }, 'The comment is by a program'],
    ['written then, and edited since', { editedAt: '2026-11-20T08:00:00Z' }],
    ['written before, and edited then', { writtenAt: '2026-11-10T08:00:00Z', editedAt: WRITTEN.updated_at }],
    ['written before', { writtenAt: '2026-11-18T23:29:59Z' }, OTHER_TIME],
    ['written after', { writtenAt: '2026-11-18T23:30:01Z' }, OTHER_TIME],
    ['written at no time', { writtenAt: '' }, OLD],
    ['forgotten', { writtenAt: '2026-10-01T08:00:00Z', editedAt: '2026-11-19T08:00:00Z' }, OLD],
  ])("only the comment of the event gives the command, in GitHub's version: %s", async (_, has, refusal) => {
    const { text = LOG, ...about } = has ?? {};
    if (has) relay.github.written.set(1, text);
    Object.assign(relay.github, about);
    await post(created(LOG));
    await relay.workToTheEnd();
    const said = refusal ? expect.stringContaining(refusal) : expect.stringMatching(/^✅ Logged 2h/);
    expect(relay.github.comments.map(({ body }) => body)).toEqual([said]);
    expect(relay.timelogs()).toHaveLength(refusal ? 0 : 1);
  });

  it('each line of a comment gives its command', async () => {
    const body = `${LOG}\n/done 101\n/done 102`;
    relay.github.written.set(1, body);
    await post(created(body));
    await relay.workToTheEnd();
    expect(relay.github.comments.map((one) => one.body.split('\n')[0])).toEqual([
      expect.stringMatching(/^✅ Logged 2h/),
      '✅ Completed checklist item 101',
      '✅ Completed checklist item 102',
    ]);
  });

  it.each([null, '/done 102'])('a command is carried out if GitHub did not have the comment yet: %s', async (stale) => {
    relay.github.written.set(1, stale);
    await post(created(LOG));
    await relay.work();
    expect([relay.timelogs(), relay.github.comments]).toEqual([[], []]);
    relay.github.written.set(1, LOG);
    await relay.workToTheEnd();
    expect(relay.timelogs()).toHaveLength(1);
  });

  it.each([LOG, '/done 101'])('a comment changed during an outage gives no command: %s', async (line) => {
    relay.github.written.set(1, line);
    relay.sandbox.setFault({ kind: 'maintenance', times: 3 });
    await post(created(line));
    await relay.work();
    relay.github.written.set(1, null);
    await relay.workToTheEnd();
    expect([relay.timelogs(), relay.isCompleted(101)]).toEqual([[], false]);
    expect(relay.github.comments.map(({ body }) => body)).toEqual([expect.stringContaining('The comment was deleted')]);
  });

  it('a change after the command was carried out gets an answer that says what was done', async () => {
    relay.github.written.set(1, LOG);
    await post(created(LOG));
    relay.github.refusal = 'instead of the work';
    await relay.work();
    expect(relay.timelogs()).toHaveLength(1);
    relay.github.written.set(1, null);
    relay.github.refusal = undefined;
    await relay.workToTheEnd();
    expect(relay.github.comments.map(({ body }) => body)).toEqual([expect.stringContaining('Logged 2h')]);
  });

  it.each([401, 503])('waits for GitHub while it answers %i, and then asks with the current token', async (status) => {
    await answers(created('/done 101', { id: 2 }));
    relay.clock.now += 60_000;
    relay.github.written.set(1, LOG);
    relay.github.refusal = { status, message: 'Not now' };
    await post(created(LOG));
    await relay.work();
    expect(relay.timelogs()).toEqual([]);
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github`, { token: 'ghp_rotated' });
    relay.github.refusal = undefined;
    relay.github.authorizations.clear();
    await relay.workToTheEnd();
    if (status === 401) expect([...relay.github.authorizations]).toEqual(['token ghp_rotated']);
    expect(relay.timelogs()).toHaveLength(1);
  });
});

describe('a comment by someone who is not the owner', () => {
  it.each([
    ['a bot', { user: { login: 'partner-relay[bot]', type: 'Bot' } }],
    ['a deleted account', { user: null }],
  ])('makes no job if it is %s', async (_, comment) => {
    const answer = await post(created('/done 101\n/log 1h99m 4711', comment));
    expect(answer).toEqual({ jobs: [], ignored: expect.stringContaining('comments of bots') });
  });

  const user = { login: 'Codertocat', type: 'User' };
  it.each<[string, string, string, boolean]>([
    ['a private member who may triage', 'CONTRIBUTOR', 'triage', true],
    ['a member who may write', 'MEMBER', 'write', true],
    ['a collaborator who may maintain', 'COLLABORATOR', 'maintain', true],
    ['a stranger, who may read', 'CONTRIBUTOR', 'read', false],
    ['a member who may read', 'MEMBER', 'read', false],
    ['a member whose role of the organization is based on read', 'MEMBER', 'contractor', false],
    ['a collaborator who may read', 'COLLABORATOR', 'read', false],
  ])('authors give commands if GitHub confirms the role triage or more: %s', async (_, association, role, counts) => {
    relay.github.roles = new Map([['Codertocat', role]]);
    const asked = ['/done 101', '/log 1h99m 4711'].map((body, id) =>
      created(body, { id: id + 1, author_association: association, user }),
    );
    const told = await answers(...asked);
    // A stranger gets no answer, and a member reads why.
    const isStranger = !counts && association === 'CONTRIBUTOR';
    const ended = (await relay.jobs()).map(({ automation, status }) => `${automation}: ${status}`).sort();
    const [fault, command] = [isStranger, counts || isStranger].map((good) => (good ? 'succeeded' : 'not-done'));
    expect(ended).toEqual([`answer-fault: ${fault}`, `complete-checklist-item: ${command}`]);
    expect(relay.isCompleted(101)).toBe(counts);
    expect(told).toHaveLength(isStranger ? 0 : 2);
    if (!counts) for (const text of told) expect(text).toContain('commands need the role triage');
  });

  it("if GitHub does not show roles, a stranger gives no command, and a member's command waits for an operator", async () => {
    relay.github.roles = undefined;
    await answers(created('/done 101', { author_association: 'NONE', user }));
    await answers(created('/done 102', { id: 2, author_association: 'MEMBER', user }));
    expect([relay.isCompleted(101), relay.isCompleted(102)]).toEqual([false, false]);
    expect((await relay.jobs('parked')).map(({ parked }) => parked?.reason)).toEqual([
      expect.stringContaining('GitHub does not tell the relay which role a member has in Codertocat/Hello-World'),
    ]);
  });

  it.each([
    ['NONE', false],
    ['MEMBER', true],
    ['COLLABORATOR', true],
    ['OWNER', true],
  ])('without credentials, the comment decides, and there is no answer: %s', async (author_association, counts) => {
    relay.stack.secrets.put(`${relay.stack.secretPrefix}github`, {});
    expect(await answers(created('/done 101', { author_association, user }))).toEqual([]);
    expect(relay.isCompleted(101)).toBe(counts);
  });
});

describe('a comment with too many commands', () => {
  const ids = (line: number) => Array.from({ length: 20 }, (_, index) => 1_000 + 20 * line + index).join(' ');
  const body = Array.from({ length: 20 }, (_, line) => `/done ${ids(line)}`).join('\n');

  it('a comment is carried out up to the limit, and the answer says where it stopped', async () => {
    const told = await answers(created(body));
    expect(relay.sandbox.requests).toBe(40);
    expect(told.at(-1)).toContain(
      'A comment can have at most 10 commands and 50 checklist items. Nothing was done from “/done 1040',
    );
  });

  it('edits do not bypass the limit', async () => {
    await post(created(body));
    expect((await post(edited(body, `/done 101\n${body}`))).jobs).toHaveLength(1);
  });
});

it("a person's eleventh unfinished command is refused in a comment, even if GitHub delivers it again", async () => {
  const tooMany = 'You have 10 unfinished requests, the maximum';
  const comment = (id: number) => created(`/done ${100 + id}`, { id });
  for (let id = 1; id <= 11; id++) await post(comment(id));
  await relay.work();
  const told = relay.github.comments.map(({ body }) => body);
  expect(told.filter((body) => body.includes(tooMany))).toHaveLength(1);
  expect(told).toHaveLength(11);
  const again = await post(comment(11));
  expect(again).toMatchObject({ repeat: true, jobs: [expect.stringMatching(/^answer-fault-/)] });
  expect(await answers(comment(12))).not.toContainEqual(expect.stringContaining(tooMany));
});

it('a comment that is too old gives no command, even if Partner Relay has forgotten it', async () => {
  await answers(created('/undo 101'));
  relay.clock.now += 40 * 86_400_000;
  expect((await post(created('/undo 101'))).ignored).toContain('more than 4 days old');
  expect((await post(edited('', '/undo 101'))).ignored).toContain('more than 4 days old');
});

describe('an answer that may have been given', () => {
  /** GitHub stores the relay's answer, but does not confirm it. The relay's search then finds these comments. */
  async function answerAmong(comments: (mine: MadeComment) => MadeComment[]): Promise<void> {
    relay.github.refusal = 'after the work';
    await post(created('/done 101'));
    await relay.work();
    const [mine = expect.fail('there is no answer')] = relay.github.comments.splice(0);
    relay.github.comments.push(...comments(mine));
    relay.github.refusal = undefined;
    await relay.workToTheEnd();
  }

  it("an answer is searched for only among the relay's own comments", async () => {
    await answerAmong((mine) => [{ ...mine, user: { id: 666, login: 'mallory' } }]);
    expect(relay.github.comments).toHaveLength(2);
  });

  it.each([
    ['found on the third page', 250, 251],
    ['not looked for beyond', 300, 302],
  ])('is %s of the comments written since', async (_, others, comments) => {
    await answerAmong((mine) => [
      ...Array.from({ length: others }, (_, n) => ({ ...mine, body: `me too ${n}` })),
      mine,
    ]);
    expect(relay.github.comments).toHaveLength(comments);
  });

  it('names the kind of failure and the job, but nothing that the service said', async () => {
    relay.sandbox.keys[0] = { ...(relay.sandbox.keys[0] as (typeof relay.sandbox.keys)[0]), scopes: [] };
    await post(created('/log 1h 4711'));
    await relay.workToTheEnd();
    const [job] = await relay.jobs('parked');
    expect(relay.github.comments.map(({ body }) => body.split('\n')[0])).toEqual([
      `🛑 This could not be done: the service refused it. It is saved as job \`${job?.id}\`, and your Partner Relay administrator can see why and continue it.`,
    ]);
  });
});

describe('an edit', () => {
  const CHANGES = 'an edit that changes a command is ignored; write a new comment';
  const NONE = 'a comment without a command for this repository';

  it.each([
    ['of a comment of the relay', `Hello${MARK}`, '/done 101', 'commands in comments of the relay are ignored'],
    ['into a copy of such a comment', 'Hello', `/done 101${MARK}`, 'commands in comments of the relay are ignored'],
    ['that quotes such a comment', 'Hello', `> Hello${MARK}\n\n/done 101`, ['done 101']],
    ['of other words', '/done 101\nHello', '/done 101\nHello!', NONE],
    ['that moves a command', '/done 101\nHello', 'Hello\n\n  /done 101', NONE],
    ['that says it twice', '/done 101', '/done 101\n/done 101', NONE],
    ['that adds a line', '/done 101', '/done 101\n/done 102', ['done 102']],
    ['that adds a command to a text', 'Hello', 'Hello\n/done 102', ['done 102']],
    ['that changes a line', '/log 2h 4711', '/log 3h 4711', CHANGES],
    ['that changes a line and adds one', '/done 101\n/undo 103', '/done 102\n/undo 103\n/done 104', CHANGES],
    ['that takes a line away', '/done 101\n/done 102', '/done 101', CHANGES],
    ['that takes all away', '/done 101', '', CHANGES],
    ['that makes code of it', '/done 101', '`/done 101`', CHANGES],
    ['that makes a command of code', '`/done 101`', '/done 101', ['done 101']],
    ['that mends a line which could not be read', '/log 1h99m 4711', '/log 2h 4711', ['log 2h 4711']],
    ['that replaces a date long ago', '/log 2h 2025-11-18 4711', '/log 2h 2026-11-18 4711', ['log 2h 2026-11-18 4711']],
    ['that breaks a line', '/log 2h 4711', '/log 1h99m 4711', CHANGES],
  ] as const)(
    '%s gives the commands that it adds, and none if it changes a command',
    async (_, from, body, expected) => {
      const answer = await post(edited(from, body));
      if (typeof expected === 'string') expect(answer).toEqual({ jobs: [], ignored: expected });
      else expect(await summaries(answer)).toEqual(expected.map((command) => `@Codertocat: ${command}`));
      // Commands that the edit does not add belong to the first job.
      const before = (await post(created(from))).jobs as string[];
      for (const job of answer.jobs as string[]) expect(before).not.toContain(job);
    },
  );

  it('an edit that follows a changed command still gives the command it adds', async () => {
    await post(created('/done 101'));
    await post(edited('/done 101', '/done 102'));
    expect((await post(edited('/done 102', '/done 102\n/done 103'))).jobs).toHaveLength(1);
    await relay.work();
    expect([relay.isCompleted(101), relay.isCompleted(102), relay.isCompleted(103)]).toEqual([true, false, true]);
  });

  it('an edit that arrives before its comment loses nothing and repeats nothing', async () => {
    await post(edited('/done 101', '/done 101\n/done 102'));
    await post(created('/done 101'));
    await relay.work();
    expect([relay.isCompleted(101), relay.isCompleted(102)]).toEqual([true, true]);
    expect(await relay.jobs()).toHaveLength(2);
  });

  it.each<[string, () => Fields, string?]>([
    ['an edit by another person', () => edited('Hello', 'Hello\n/done 101', { by: 'hubot' })],
    ["an edit of the issue's title, or an empty one", () => ({ ...edited('', '/done 101'), changes: undefined }), NONE],
    ['a deletion', () => ({ ...created('/done 101'), action: 'deleted' }), 'a comment that is deleted changes nothing'],
  ])('%s gives no command', async (_, event, ignored) => {
    expect(await post(event() as CommentEvent)).toMatchObject({ jobs: [], ...(ignored && { ignored }) });
  });
});

const EACH = '/done 101\n/LOG 1h “Release checkout 2.4”\n/log 2h “Release checkout 2.4”\n/Undo 102';

it.each([
  ['both', { completeChecklistItem: true, logTime: true }, ['done 101', 'log 1h', 'log 2h', 'undo 102']],
  ['checklist items only', { completeChecklistItem: true }, ['done 101', 'undo 102']],
  ['time only', { logTime: true }, ['log 1h', 'log 2h']],
  ['neither', {}, []],
])('a repository takes only the commands that it enables: %s', async (_, settings, taken) => {
  const repositories = [{ name: 'codertocat/hello-world', connection: 'main', ...settings }];
  relay = await startRelay({ config: defineConfig({ connections: { main: {} }, github: { repositories } }) });
  const answer = await post(created(EACH));
  expect(await summaries(answer)).toEqual(taken.map((command) => expect.stringContaining(`@Codertocat: ${command}`)));
  if (taken.length === 0) expect(answer.ignored).toContain('does not allow commands in comments in relay.config.ts');
});

it('an answer mentions no one and contains no HTML or Markdown from others', async () => {
  const outside =
    '@octocat &commat;octocat &#64;octocat <img src=x> </details> [a](https://evil.example) ![b](https://evil.example/b.png) **c** _d_ ~~e~~ `f` # g #1 | h \\@octocat';
  const [task] = relay.sandbox.data.tasks;
  Object.assign(task ?? {}, { name: outside, title: outside });
  const bodies = await answers(
    created(`/log 1h ${task?.task_id}`),
    created(`/log 1h "${outside}?"`, { id: 2 }),
    created(`/log ${outside}`, { id: 3 }),
    created('/log 1h octocat', { id: 4 }),
  );
  expect(bodies).toHaveLength(4);
  for (const body of bodies) {
    // Without escaped characters: https://relay.github.github.com/gfm/#backslash-escapes
    const open = body.replace(EDITS, '').replaceAll(/\\[!-/:-@[-`{-~]/g, '\0');
    expect(open.match(/@(?!\u200b)/g) ?? []).toEqual([]);
    expect(open.match(/[<>`*_[\]#|~]/g) ?? []).toEqual([]);
    // GitHub also reads a mention with entities: https://relay.github.com/openjdk/skara/pull/1548
    expect(open.match(/&(?!amp;)(?:#|\w+;)/g) ?? []).toEqual([]);
  }
});
