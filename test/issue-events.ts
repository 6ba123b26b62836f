import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The payloads that GitHub publishes, by event. */
export const githubExamples = require('@octokit/webhooks-examples/api.github.com/index.json') as {
  name: string;
  examples: Record<string, unknown>[];
}[];

type Fields = Record<string, unknown>;

const opened = githubExamples
  .find(({ name }) => name === 'issues')
  ?.examples.find((example) => example.action === 'opened' && (example.issue as Fields).body) as Fields & {
  issue: Fields;
};

/**
 * GitHub's example of an opened issue, with another action, issue and changes of it.
 *
 * @param seconds of the issue's `updated_at`
 */
export function issueEvent(
  action: string,
  {
    id = 1,
    seconds = 0,
    labels = ['bug'],
    repository = 'Codertocat/Hello-World',
    extra = {},
    ...issue
  }: Fields & {
    id?: number;
    seconds?: number;
    labels?: string[];
    repository?: string;
    extra?: Fields;
  } = {},
): Fields & { issue: Fields } {
  return {
    ...opened,
    action,
    issue: {
      ...opened.issue,
      id: 9_000 + id,
      number: id,
      html_url: `https://github.com/${repository}/issues/${id}`,
      labels: labels.map((name) => ({ name })),
      updated_at: new Date(Date.UTC(2026, 10, 20, 9) + seconds * 1000).toISOString().replace('.000', ''),
      ...issue,
    },
    repository: { ...(opened.repository as Fields), full_name: repository },
    ...extra,
  };
}
