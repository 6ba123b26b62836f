import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { type CheckRun, setCheckRun } from '../../lib/platforms/github/checks/check-runs.ts';
import { createGithubClient } from '../../lib/platforms/github/github-client.ts';
import { plainText } from '../../lib/platforms/github/plain-text.ts';
import type { Secrets } from '../../lib/state/secrets/secrets.ts';
import { type GithubApi, startGithubApi } from '../github-api.ts';
import { privateKey } from '../github-identity.ts';

const place = { repository: 'acme/web' };
const run: CheckRun = {
  name: 'Tracked work',
  headSha: 'abc123',
  externalId: 'pull request 1',
  conclusion: 'success',
  title: 'It is tracked',
  summary: 'It names a task.',
};

let github: GithubApi;
beforeEach(async () => {
  github = await startGithubApi(Date.now);
});

function checksWith(secret: object) {
  const secrets: Secrets = {
    current: async (_, schema) => z.parse(schema, secret),
    async *accepted() {},
    prepare() {},
    refresh: () => true,
  };
  const client = createGithubClient({ apiUrl: github.url, secrets, clock: Date.now, fetch });
  return { set: (at: typeof place, run: CheckRun) => setCheckRun(client, at, run, () => {}) };
}
const checks = () => checksWith({ token: 'ghp_test', appId: '12', privateKey });

describe('a check run', () => {
  it('is created as the App, even if there is a token, and updated after that', async () => {
    await checks().set(place, { ...run, conclusion: undefined });
    expect(github.checkRuns).toMatchObject([{ status: 'in_progress', conclusion: null }]);
    await checks().set(place, { ...run, conclusion: 'failure', title: 'It is not tracked' });
    expect(github.checkRuns).toMatchObject([
      { head_sha: 'abc123', status: 'completed', conclusion: 'failure', output: { title: 'It is not tracked' } },
    ]);
    expect(github.authorizations).not.toContain('token ghp_test');
  });

  it('is not created a second time after its answer was lost', async () => {
    github.refusal = 'after the work';
    await expect(checks().set(place, run)).rejects.toThrow('GitHub did not answer');
    github.refusal = undefined;
    await checks().set(place, run);
    expect(github.checkRuns).toHaveLength(1);
  });

  it.each([
    ['another name', { name: 'Tests' }],
    ['another commit', { headSha: 'def456' }],
    ['another thing that is checked', { externalId: 'pull request 2' }],
  ])('of %s is another check run', async (_, other) => {
    await checks().set(place, run);
    await checks().set(place, { ...run, ...other });
    expect(github.checkRuns).toHaveLength(2);
  });

  it("is cut to GitHub's limits", async () => {
    await checks().set(place, { ...run, title: 'ü'.repeat(300), summary: 'ü'.repeat(70_000) });
    const { title, summary } = github.checkRuns[0]?.output ?? { title: '', summary: '' };
    expect(title).toHaveLength(200);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(65_535);
    expect(summary).toMatch(/ü\n\n… The rest does not fit into a check\.$/);
  });

  it('says what to do if the App may not write checks, or does not exist', async () => {
    await expect(checksWith({ token: 'ghp_test' }).set(place, run)).rejects.toThrow('from a GitHub App only');
    github.refusal = { status: 403, message: 'Resource not accessible by integration' };
    await expect(checks().set(place, run)).rejects.toThrow(
      'give the App the permission "Checks: read and write" in acme/web',
    );
    github.refusal = { status: 422, message: 'No commit found for SHA: abc123' };
    expect(await checks().set(place, run)).toEqual({ leftOut: 'GitHub does not have the commit any more' });
  });
});

it.each([
  ['a mention', '@acme/all', /@acme/],
  ['a reference', '#12', /#12/],
  ['a link', '[here](https://evil.example)', /\]\(|:\/\//],
  ['a reference by GH-', 'GH-12 gh-12', /gh-\d/i],
  ['mathematics', '$x$', /(?<!\\)\$/],
  ['a list', '- a\n1. b\n  - c', /^\s*(-|\d+\.)/m],
  ['a command of the relay or of another tool', '/done 101\n  /lgtm\r\u202e/merge', /^\s*\//m],
  ['a line under a heading', 'a\n---\n===', /^[-=]/m],
  ['text in the other direction', 'a\u202eb\u2067', /[\u202e\u2067]/],
  ['an emoji', ':tada:', /:t/],
  ['an address', 'https://evil.example www.evil.example', /:\/\/|www\./],
  ['HTML', '<img src=x>&lt;', /(?<!\\)<|&lt/],
  ['emphasis and code', '**a** `b` ~c~', /(?<!\\)[*`~]/],
])('%s from outside is no markup on GitHub', (_, text, markup) => {
  expect(plainText(text)).not.toMatch(markup);
});
