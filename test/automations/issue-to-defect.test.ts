import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { privateKey } from '../github-identity.ts';
import { issueEvent } from '../issue-events.ts';
import { exampleConfig, startRelay, type TestRelay } from '../relay.ts';

let relay: TestRelay;
beforeEach(async () => {
  relay = await startRelay();
});

const outcomes = async () => (await relay.jobs()).map((job) => job.outcome ?? job.parked?.reason ?? job.status);

describe('one issue', () => {
  it('an issue becomes one defect with its text, author, URL and state', async () => {
    await relay.happens(issueEvent('opened', { title: 'It breaks', body: 'When I\r\n**click**' }));
    expect(relay.defects()).toHaveLength(1);
    expect(relay.defects()[0]).toMatchObject({ title: 'It breaks' });
    expect(relay.defects()[0]?.description).toMatch(
      /^When I\r\n\*\*click\*\*\n\n---\nGitHub issue Codertocat\/Hello-World#1 by @Codertocat: https:\/\/github.com\/Codertocat\/Hello-World\/issues\/1\nState: open\n\[partner-relay [0-9a-f]{20}\]$/,
    );
    const [job] = await relay.jobs();
    expect(await relay.steps(job?.id ?? '')).toEqual({ 'create-defect': 'done', comment: 'skipped' });
  });

  it('simultaneous events of one issue make one defect', async () => {
    for (const [action, seconds] of [
      ['opened', 0],
      ['labeled', 0],
      ['edited', 5],
      ['labeled', 6],
    ] as const) {
      await relay.post('issues', issueEvent(action, { seconds, title: `at ${seconds}` }));
      relay.clock.now += 1;
    }
    const before = relay.sandbox.requests;
    await relay.workToTheEnd();
    expect(relay.defects()).toMatchObject([{ title: 'at 6' }]);
    expect(await outcomes()).toEqual([
      expect.stringMatching(/^created defect/),
      ...Array(3).fill(expect.stringMatching(/^nothing to do: defect .* matches the issue$/)),
    ]);
    expect(relay.sandbox.requests - before).toBe(1);
  });

  it('a defect follows edits, labels, closing and reopening of its issue', async () => {
    relay = await startRelay({
      config: exampleConfig({
        priority: { default: 'Medium', labels: { Urgent: 'High' } },
        severity: { labels: { typo: 'Minor' }, types: { regression: 'Critical' } },
        whenClosed: { set: { priority: 'None' } },
      }),
    });
    await relay.happens(issueEvent('opened'));
    expect(relay.defects()[0]).toMatchObject({ priority: 'Medium' });
    await relay.happens(issueEvent('edited', { seconds: 1, title: 'Another title' }));
    expect(relay.defects()[0]).toMatchObject({ title: 'Another title', priority: 'Medium' });
    await relay.happens(issueEvent('labeled', { seconds: 2, labels: ['BUG', 'urgent', 'typo'] }));
    expect(relay.defects()[0]).toMatchObject({ priority: 'High', severity: 'Minor' });
    await relay.happens(issueEvent('typed', { seconds: 2, labels: ['bug'], type: { id: 7, name: 'Regression' } }));
    expect(relay.defects()[0]).toMatchObject({ priority: 'Medium', severity: 'Critical' });
    await relay.happens(
      issueEvent('labeled', { seconds: 2, labels: ['bug', 'typo'], type: { id: 7, name: 'Regression' } }),
    );
    expect(relay.defects()[0]).toMatchObject({ severity: 'Minor' });
    await relay.happens(issueEvent('closed', { seconds: 3, state: 'closed', state_reason: 'not_planned' }));
    expect(relay.defects()[0]).toMatchObject({ priority: 'None' });
    expect(relay.defects()[0]?.description).toContain('\nState: closed (not planned)\n');
    await relay.happens(issueEvent('reopened', { seconds: 4 }));
    expect(relay.defects()[0]).toMatchObject({ priority: 'Medium' });
    await relay.happens(issueEvent('unlabeled', { seconds: 5, labels: [] }));
    expect(relay.defects()[0]?.description).toContain('No longer labelled bug.');
    expect(relay.defects()).toHaveLength(1);
  });

  it('an issue gets no defect if the label was removed before its event arrived', async () => {
    await relay.happens(issueEvent('unlabeled', { seconds: 2, labels: [] }), issueEvent('labeled', { seconds: 1 }));
    expect(relay.defects()).toEqual([]);
    expect(await outcomes()).toEqual([
      expect.stringContaining('has no label bug now, and no defect'),
      expect.stringContaining('has no label bug now, and no defect'),
    ]);
  });

  it('the description omits the state if closing is configured to do nothing', async () => {
    relay = await startRelay({ config: exampleConfig({ whenClosed: 'leave' }) });
    await relay.happens(issueEvent('opened'), issueEvent('closed', { seconds: 1, state: 'closed' }));
    expect(relay.defects()[0]?.description).not.toContain('State:');
    expect((await outcomes())[1]).toContain('matches the issue');
  });

  it('an issue gets no second defect if the job that made the first was parked before it could record it', async () => {
    await relay.happens(issueEvent('opened'));
    const [maker] = await relay.jobs();
    const { table } = relay.stores;
    await table.update(
      { pk: 'link#issue-9001', sk: 'link' },
      { expression: 'SET #life = :life REMOVE #defect', values: { life: 'claimed' } },
    );
    const parked = { status: 'parked', parked: { reason: 'crashed', kind: 'failed' } };
    await table.update(
      { pk: `job#${maker?.id}`, sk: 'job' },
      { expression: 'SET #status = :status, #parked = :parked', values: parked },
    );
    await relay.happens(issueEvent('edited', { seconds: 1, title: 'edited' }));
    expect(relay.defects()).toMatchObject([{ title: 'edited' }]);
  });

  it('the same labels in another order are the same event', async () => {
    const labels = ['bug', 'typo'];
    await relay.happens(issueEvent('opened', { labels }));
    expect((await relay.post('issues', issueEvent('opened', { labels: labels.toReversed() }))).status).toBe(200);
  });

  it('an issue keeps its defect when its repository is renamed', async () => {
    relay = await startRelay({ config: exampleConfig({}, { also: ['Codertocat/Renamed'] }) });
    await relay.happens(issueEvent('opened'), issueEvent('edited', { seconds: 1, repository: 'Codertocat/Renamed' }));
    expect(relay.defects()).toMatchObject([{ description: expect.stringContaining('Codertocat/Renamed#1') }]);
  });
});

describe('a text', () => {
  it.each([
    ['none', null, '(The issue has no text.)'],
    ['empty', '', '(The issue has no text.)'],
    ['emoji, CRLF and markup', '👩‍👩‍👧‍👦\r\n<b>&amp;</b>\u0000\u2028', '👩‍👩‍👧‍👦\r\n<b>&amp;</b>\u0000\u2028'],
  ])('a text arrives whole: %s', async (_, body, text) => {
    await relay.happens(issueEvent('opened', { body }));
    expect(relay.defects()[0]?.description.startsWith(`${text}\n\n---\n`)).toBe(true);
  });

  it.each([
    ['5 MB of flags', '🏴󠁧󠁢󠁷󠁬󠁳󠁿', 180_000],
    // In JSON, each is six bytes.
    ['control characters', '\u0001', 65_536],
  ])(
    'a long text is cut by bytes with a note, and no item or message is too large: %s',
    async (_, character, count) => {
      const maxDescriptionBytes = 48_000;
      relay = await startRelay({ config: exampleConfig({ maxDescriptionBytes }) });
      await relay.happens(issueEvent('opened', { title: 'é'.repeat(256), body: character.repeat(count) }));
      const description = relay.defects()[0]?.description ?? '';
      expect(Buffer.byteLength(description)).toBeLessThanOrEqual(maxDescriptionBytes);
      const [kept = '', rest] = description.split('\n\n[Cut here; the whole text is in the issue.]\n\n---\n');
      expect(rest).toContain('GitHub issue');
      expect(kept).toBe(character.repeat(kept.length / character.length));
      expect(await relay.jobs('succeeded')).toHaveLength(1);
    },
  );

  it('any Unicode text arrives whole, or cut between characters with a note', async () => {
    const maxDescriptionBytes = 1_000;
    relay = await startRelay({ config: exampleConfig({ maxDescriptionBytes }) });
    let id = 10;
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 800 }), async (body) => {
        relay.clock.now += 60_000;
        await relay.happens(issueEvent('opened', { id: ++id, body }));
        const description = relay.sandbox.data.defects.at(-1)?.description ?? '';
        expect(Buffer.byteLength(description)).toBeLessThanOrEqual(maxDescriptionBytes);
        const [text = ''] = description.split('\n\n---\nGitHub issue ');
        const [kept, note] = text.split('\n\n[Cut here');
        if (note === undefined) expect(text).toBe(body);
        else {
          expect(body.startsWith(kept ?? '')).toBe(true);
          expect(Buffer.from(kept ?? '').toString()).toBe(kept);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the comment', () => {
  const start = async (secret: object) => {
    relay = await startRelay({ github: secret });
  };

  it('the App installation posts the comment if the secret has an App', async () => {
    await start({ appId: 12, privateKey });
    await relay.happens(issueEvent('opened'));
    expect(relay.github.comments).toHaveLength(1);
    expect(relay.github.authorizations).toContain('token ghs_installation');
  });

  it.each([
    ['a locked issue', 403, 'Unable to create comment because issue is locked.', 'succeeded'],
    ['a deleted issue', 410, 'This issue was deleted', 'succeeded'],
    ['no permission', 403, 'Resource not accessible by integration', 'parked'],
    ['no access', 404, 'Not Found', 'parked'],
  ] as const)('of %s ends the job: %s %s', async (_, status, message, ended) => {
    await start({ token: 'ghp_test' });
    relay.github.refusal = { status, message };
    await relay.happens(issueEvent('opened'));
    expect(await relay.jobs(ended)).toHaveLength(1);
    expect(relay.defects()).toHaveLength(1);
  });

  it('the comment waits as long as GitHub says, and continues after a replay once it is allowed', async () => {
    await start({ token: 'ghp_test' });
    const now = relay.clock.now;
    relay.github.refusal = { status: 429, message: 'secondary rate limit', headers: { 'retry-after': '120' } };
    await relay.post('issues', issueEvent('opened'));
    await relay.work();
    expect(await relay.jobs('waiting')).toMatchObject([{ dueAt: now + 120_000, attempts: 0 }]);
    relay.github.refusal = undefined;
    await relay.workToTheEnd();
    expect(relay.github.comments).toHaveLength(1);
    expect(relay.defects()).toHaveLength(1);
  });
});

it('an issue becomes a task once, whatever happens to its labels, even after the records have expired', async () => {
  const title = 'Renew the certificate';
  const made = () => relay.sandbox.data.tasks.filter((task) => task.title === title);
  await relay.post('issues', issueEvent('opened', { title, labels: [] }));
  await relay.happens(issueEvent('labeled', { title, seconds: 1, labels: ['Task'] }));
  expect(made()).toMatchObject([{ description: expect.stringContaining('https://github.com/') }]);
  expect(await relay.jobs('parked')).toEqual([]);
  await relay.post('issues', issueEvent('labeled', { title, seconds: 2, labels: ['task'] }));
  relay.clock.now += 31 * 86_400_000;
  await relay.happens(issueEvent('labeled', { title, seconds: 31 * 86_400, labels: ['task'] }));
  expect(made()).toHaveLength(1);
});
