import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** GitHub's published payloads, by event. */
export const githubExamples = require('@octokit/webhooks-examples/api.github.com/index.json') as {
  name: string;
  examples: Record<string, unknown>[];
}[];

type Fields = Record<string, unknown>;

/** An example of an event in GitHub's example repository. @param fits chooses one of several */
export function exampleOf(event: string, action: string, fits: (example: Fields) => unknown = () => true): Fields {
  const example = githubExamples
    .find(({ name }) => name === event)
    ?.examples.find(
      (one) =>
        one.action === action &&
        (one.repository as Fields | undefined)?.full_name === 'Codertocat/Hello-World' &&
        fits(one),
    );
  if (!example) throw new Error(`GitHub publishes no such example of ${event} with ${action}`);
  return example;
}

const opened = exampleOf('issues', 'opened', ({ issue }) => (issue as Fields).body) as Fields & { issue: Fields };

/**
 * GitHub's example of an opened issue, with another action, and changes of the issue.
 *
 * @param from the start of the history in ms. A test on the real clock gives its own time, because the relay ignores
 * events
 * that are too old for a redelivery
 * @param seconds from there to the issue's `updated_at`
 */
export function issueEvent(
  action: string,
  {
    id = 1,
    from = Date.UTC(2026, 10, 20, 9),
    seconds = 0,
    labels = ['bug'],
    repository = 'Codertocat/Hello-World',
    extra = {},
    ...issue
  }: Fields & {
    id?: number;
    from?: number;
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
      updated_at: timestamp(from + seconds * 1000),
      ...issue,
    },
    repository: { ...(opened.repository as Fields), full_name: repository },
    ...extra,
  };
}

/** Moves every `…_at` of a payload by `ms`. */
export function movedBy(ms: number, payload: Fields): Fields {
  return JSON.parse(
    JSON.stringify(payload, (name, value) =>
      typeof value === 'string' && name.endsWith('_at') ? timestamp(Date.parse(value) + ms) : value,
    ),
  );
}

/** In GitHub's format: `2026-11-20T09:00:00Z`. */
function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '');
}
