import { beforeEach, describe, expect, it } from 'vitest';
import { mergedPayload } from '../kill/github-payloads.ts';
import { startRelay, type TestRelay } from '../relay.ts';

type Fields = Record<string, unknown>;

/** The pull request's branch. The default branch is master. */
const into = (ref: string) => ({ base: { ref, repo: { default_branch: 'master' } } });

function merged(body: string | null, { action = 'closed', ...pull }: Fields = {}) {
  const payload = mergedPayload(7, body ?? '');
  return { ...payload, action, pull_request: { ...payload.pull_request, body, ...pull } };
}

const TOKEN = { token: 'ghp_test' };

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay({ github: TOKEN });
});

const post = (event: Fields) => relay.post('pull_request', event);
const completed = () =>
  relay.sandbox.data.checklistItems.filter(({ is_completed }) => is_completed).map(({ item_id }) => item_id);
const NOT_ALL = 'Completed checklist item 103. There is no checklist item 999.';
const NAMES_NONE = 'the text of the pull request names no checklist item to complete';
const BODY = 'Sums the cart up anew.\r\n\r\nCompletes checklist item 103.';

describe('a merged pull request', () => {
  it.each([
    ['one item', BODY, [103], 'Completed checklist item 103'],
    ['several', 'completes checklist items #101, 102 and 104', [101, 102, 104], 'Completed checklist items 101, 102'],
    ['one that is not there', `${BODY}\n\nCompletes checklist item 999`, [103], NOT_ALL],
  ])('a merged pull request completes the items it names and comments on it: %s', async (_, body, items, said) => {
    expect((await post(merged(body))).status).toBe(202);
    await relay.work();
    expect(completed()).toEqual(items);
    expect(relay.github.comments).toMatchObject([
      { issue: 'Codertocat/Hello-World#7', body: expect.stringContaining(said) },
    ]);
    expect(relay.github.comments[0]?.body).not.toContain('please write a new one');
  });

  it.each([
    ['no text', merged(null), NAMES_NONE],
    ['code', merged('`Completes checklist item 103`'), NAMES_NONE],
    ['closed without a merge', merged(BODY, { merged: false }), 'closed without a merge'],
    ['a stacked one', merged(BODY, into('feature')), 'into feature completes nothing; only a merge into master'],
    ['opened', merged(BODY, { action: 'opened' }), 'that is opened completes nothing'],
    ['edited after the merge', merged(BODY, { action: 'edited' }), 'that is edited completes nothing'],
  ])('other pull requests complete nothing: %s', async (_, event, reason) => {
    const { status, answer } = await post(event);
    expect([status, answer.jobs]).toEqual([202, []]);
    expect(answer.ignored).toContain(reason);
    await relay.work();
    expect(completed()).toEqual([]);
  });

  describe('a pull request merged by a person who may not be a collaborator', () => {
    const outsider = { user: { login: 'mallory', type: 'User' }, author_association: 'CONTRIBUTOR' };
    const merged_by = { login: 'Codertocat' };

    // comment-commands.test.ts has the table of others who may not give commands.
    it.each([
      ['a stranger', outsider],
      ['a bot, whatever it may do', { ...outsider, user: { login: 'renovate[bot]', type: 'Bot' } }],
    ])(
      "a stranger's pull request completes nothing, and the person who merged it gets a question: %s",
      async (_, pull) => {
        relay.github.roles = new Map([['renovate[bot]', 'write']]);
        await post(merged(BODY, { ...pull, merged_by }));
        await relay.work();
        expect(completed()).toEqual([]);
        expect(relay.github.comments.map(({ body }) => body)).toEqual([
          expect.stringMatching(
            /is not a collaborator here, so nothing was done\. @\u200bCodertocat: if that is right, comment \/done 103/,
          ),
        ]);
      },
    );

    it('a merged pull request completes items if GitHub says that its author may write', async () => {
      relay.github.roles = new Map([['mallory', 'write']]);
      await post(merged(BODY, { ...outsider, merged_by }));
      await relay.work();
      expect(completed()).toEqual([103]);
    });
  });

  it('a merge into a configured branch counts, and so does one into the default branch', async () => {
    const { github: settings, ...config } = relay.runtime.config;
    const completeChecklistItem = { branches: ['release'] };
    const repositories = settings.repositories.map((repository) => ({ ...repository, completeChecklistItem }));
    relay = await startRelay({ config: { ...config, github: { ...settings, repositories } }, github: TOKEN });
    for (const [index, branch] of ['release', 'master', 'release-2'].entries()) {
      await post(merged(`Completes checklist item ${101 + index}`, { id: index + 1, ...into(branch) }));
    }
    await relay.work();
    expect(completed()).toEqual([101, 102]);
  });
});
