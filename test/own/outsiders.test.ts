import * as z from 'partner-relay/zod';
import { expect, it } from 'vitest';
import { type By, github } from '../../lib/triggers/github.ts';
import type { Steps } from '../../lib/triggers/steps.ts';
import { exampleOf, issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;

const people = {
  stranger: { login: 'mallory', type: 'User' },
  // The event does not show a private membership.
  triager: { login: 'mira', type: 'User' },
  member: { login: 'mira', type: 'User', association: 'MEMBER' },
  bot: { login: 'vercel[bot]', type: 'Bot' },
  nobody: undefined,
};

/** The outcome of a person's event, depending on whether the file fails on it. */
const become = { runs: 'succeeded: ran', 'does not run': 'succeeded: nothing to do', 'is left': 'no job' };

it.each<[By, string, keyof typeof people, 'reads it' | 'fails' | 'takes too much', number, string]>([
  ['collaborators', 'issues.opened', 'stranger', 'reads it', 202, become['does not run']],
  ['collaborators', 'issues.opened', 'stranger', 'fails', 202, 'not woken'],
  ['collaborators', 'issues.opened', 'stranger', 'takes too much', 202, 'not woken'],
  ['collaborators', 'issues.opened', 'triager', 'reads it', 202, become.runs],
  ['collaborators', 'issues.opened', 'triager', 'fails', 202, 'not woken'],
  ['collaborators', 'issues.opened', 'member', 'fails', 500, 'woken'],
  ['collaborators', 'issues.opened', 'bot', 'fails', 202, become['is left']],
  ['collaborators', 'issues.opened', 'nobody', 'fails', 202, become['is left']],
  ['collaborators', 'deployment.created', 'stranger', 'reads it', 202, become['does not run']],
  ['collaborators', 'deployment_status.created', 'stranger', 'reads it', 202, become['does not run']],
  ['collaborators', 'deployment_status.created', 'triager', 'reads it', 202, become.runs],
  ['collaborators', 'deployment_status.created', 'bot', 'reads it', 202, become['is left']],
  ['collaborators', 'push', 'bot', 'reads it', 202, become.runs],
  ['collaborators', 'push', 'stranger', 'fails', 500, 'woken'],
  ['anyone', 'deployment_status.created', 'bot', 'reads it', 202, become.runs],
  ['anyone', 'issues.opened', 'stranger', 'reads it', 202, become.runs],
  ['anyone', 'issues.opened', 'stranger', 'fails', 202, 'not woken'],
  ['anyone', 'issues.opened', 'member', 'takes too much', 500, 'woken'],
])("by '%s': %s of %s, which the file %s, is answered with %d: %s", async (by, event, who, does, status, becomes) => {
  const { association = 'NONE', ...sender } = { association: undefined, ...people[who] };
  let calls = 0;
  const on = github(event as 'issues.opened', {
    by,
    input: { text: z.string() },
    job() {
      calls++;
      if (does === 'fails') throw new Error('no match');
      return { happened: [1], input: { text: 'x'.repeat(does === 'reads it' ? 1 : 9_000) } };
    },
  });
  const config = exampleConfig({ labels: ['none'] });
  relay = await startRelay({ own: { mine: { on, run: async () => 'ran' } }, config, github: { token: 'ghp_test' } });
  relay.github.roles?.set('mira', 'triage');
  const [name = '', action] = event.split('.');
  const { issue } = issueEvent('opened', {
    labels: [],
    user: people[who] ? sender : null,
    author_association: association,
  });
  const payload = {
    action,
    repository: { full_name: 'Codertocat/Hello-World' },
    ...(people[who] && { sender }),
    ...(name === 'issues' && { issue }),
  };
  expect((await relay.post(name, payload)).status).toBe(status);
  await relay.workToTheEnd();
  const [job] = (await relay.jobs()).filter(({ automation }) => automation === 'mine');
  const counted = (metric: string) => relay.metrics.some((one) => metric in one);
  if (becomes === 'woken' || becomes === 'not woken') {
    expect([job, counted('OwnAutomationsFailed'), counted('OwnAutomationsFailedForStrangers')]).toEqual([
      undefined,
      becomes === 'woken',
      becomes === 'not woken',
    ]);
    expect(JSON.stringify(relay.log)).toContain('automations/mine.ts failed on an event');
  } else {
    expect(job ? `${job.status}: ${job.outcome}` : 'no job').toContain(becomes);
    expect(calls).toBe(becomes === 'no job' ? 0 : 1);
  }
});

const SHARE = 4;
type Outward = (steps: Steps) => Promise<unknown>;
it.each<[string, Outward]>([
  ['say', ({ say }) => say('tell', { channel: 'C0PLATFORM' }, 'An issue was opened.')],
  ['comment', ({ comment }) => comment('answer', { repository: 'Codertocat/Hello-World', issue: 1 }, 'Thank you!')],
  ['github', ({ github }) => github('look', '/repos/Codertocat/Hello-World/issues/1', z.any())],
  ['call', ({ call }) => call('look', 'projects/list', {})],
])('events of people from outside with %s count against their share of the day', async (_, outward) => {
  const on = github('issues.opened', {
    by: 'anyone',
    input: {},
    job: ({ issue }) => ({ happened: [issue.id], input: {} }),
  });
  const run = async (_: unknown, steps: Steps) => String(await outward(steps));
  const connection = { limits: { perDay: SHARE * 10 }, strangersShare: 0.1 };
  const config = exampleConfig({ labels: ['none'] }, { connection });
  relay = await startRelay({ own: { mine: { on, run } }, config, github: { token: 'ghp_test' } });
  relay.github.issues.set('Codertocat/Hello-World#1', { number: 1 });
  const by = { user: people.stranger, author_association: 'NONE', extra: { sender: people.stranger } };
  for (let id = 1; id <= SHARE + 2; id++) await relay.post('issues', issueEvent('opened', { id, labels: [], ...by }));
  await relay.work();
  const [done, waiting] = [await relay.jobs('succeeded'), await relay.jobs('waiting')];
  expect([done.length, waiting.length]).toEqual([SHARE, 2]);
  for (const { waits } of waiting) expect(waits?.newest.at(-1)?.why).toContain('for strangers are used up');
});

it.each(['created', 'edited'])(
  'a comment that the relay wrote starts no automation when it is %s, so no loop begins',
  async (action) => {
    const on = github(`issue_comment.${action}` as 'issue_comment.created', {
      by: 'anyone',
      input: {},
      job: ({ comment }) => ({ happened: [comment.id], input: {} }),
    });
    const run = async (_: unknown, { comment }: Steps) => {
      await comment('answer', { repository: 'Codertocat/Hello-World', issue: 1 }, 'Thank you!');
      return 'thanked';
    };
    relay = await startRelay({ own: { mine: { on, run } }, github: { token: 'ghp_test' } });
    relay.github.issues.set('Codertocat/Hello-World#1', { number: 1 });
    const example = exampleOf('issue_comment', action) as Record<string, object>;
    const arrives = async (id: number, body?: string) => {
      const event = { ...example, comment: { ...example.comment, id, body, user: example.sender } };
      const { answer } = await relay.post('issue_comment', event);
      await relay.workToTheEnd();
      return answer;
    };
    await arrives(1, 'Looks good');
    const [written] = relay.github.comments;
    expect(JSON.stringify(await arrives(2, written?.body))).toContain('a comment of the relay starts no automation');
    expect(relay.github.comments).toHaveLength(1);
  },
);

const MARK = '<!-- partner-relay 56b19cda93b61c0ba88e -->';
const OF_DEFECT = '<!-- [partner-relay 56b19cda93b61c0ba88e] -->';

it.each<[string, string, string, string, boolean]>([
  ['a text without a mark', 'Hello', 'created', 'mallory', true],
  ["the relay's mark", `Hello\n\n${MARK}`, 'created', 'mallory', false],
  ['the mark of a defect', `Hello\n\n${OF_DEFECT}`, 'created', 'mallory', false],
  ["the relay's mark behind other line ends", `Hello\r\n\r\n${MARK}`, 'created', 'mallory', false],
  ['a mark before the end', `${MARK}\n\nHello`, 'created', 'mallory', true],
  ['a mark in a quotation', `Hello\n> ${MARK}`, 'created', 'mallory', true],
  ['a mark behind a text', `Hello ${MARK}`, 'created', 'mallory', true],
  ['a mark with no digest', 'Hello\n<!-- partner-relay x -->', 'created', 'mallory', true],
  ['the beginning of a mark', 'Hello\n<!-- partner-relay ', 'created', 'mallory', true],
  ['a mark that is deleted by another person', `Hello\n\n${MARK}`, 'deleted', 'Codertocat', true],
])('a comment with %s (%j, %s by %s) starts an automation: %o', async (_, body, action, login, starts) => {
  const on = github(['issue_comment.created', 'issue_comment.deleted'], {
    by: 'anyone',
    input: {},
    job: ({ comment }) => ({ happened: [comment.id], input: {} }),
  });
  relay = await startRelay({ own: { mine: { on, run: async () => 'ran' } } });
  const example = exampleOf('issue_comment', action) as Record<string, object>;
  const comment = { ...example.comment, body, user: { ...people.stranger, id: 666 } };
  const { answer } = await relay.post('issue_comment', { ...example, comment, sender: { ...example.sender, login } });
  expect(answer.jobs).toHaveLength(starts ? 1 : 0);
});

it('an edit of an issue whose text has the mark starts an automation, whatever the text was before', async () => {
  const on = github('issues.edited', { input: {}, job: ({ issue }) => ({ happened: [issue.id], input: {} }) });
  relay = await startRelay({ own: { mine: { on, run: async () => 'ran' } } });
  const author = { user: people.stranger, author_association: 'NONE', labels: [] };
  const extra = { changes: { body: { from: `Hello\n\n${MARK}` } } };
  const { answer } = await relay.post('issues', issueEvent('edited', { body: `Hi\n\n${MARK}`, ...author, extra }));
  expect(answer.jobs).toContainEqual(expect.stringMatching(/^mine-/));
});
