import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Example extends Record<string, unknown> {
  action?: string;
}

/** Numbers of invented issues begin here, so that nobody takes them for real ones. */
const FIRST_INVENTED = 100_000;

/**
 * A payload as GitHub sends it, from the examples of `@octokit/webhooks-examples`. Of an issue it is a new one, or the
 * one of that number, changed now.
 *
 * @throws {Error} that lists what there is, for an event or an action without an example
 */
export function exampleDelivery(event: string, action: string | undefined, issueNumber: number | undefined): Example {
  const path = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  const all = JSON.parse(readFileSync(path, 'utf8')) as { name: string; examples: Example[] }[];
  const examples = all.find(({ name }) => name === event)?.examples;
  if (!examples)
    throw new Error(`there is no example of '${event}'; there is ${all.map(({ name }) => name).join(', ')}`);
  const wanted = action ?? (event === 'issues' ? 'opened' : undefined);
  const example =
    wanted === undefined
      ? examples[0]
      : (examples.find((one) => one.action === wanted) ?? closed(event, wanted, examples));
  if (!example) {
    const actions = new Set([...examples.map((one) => one.action), ...(event === 'issues' ? ['closed'] : [])]);
    throw new Error(
      `there is no example of '${event}' with the action '${action}'; there is ${[...actions].join(', ')}`,
    );
  }
  return event === 'issues' ? ofIssue(example, issueNumber ?? inventedNumber()) : happenedNow(example);
}

/** The relay does nothing with events that are too old for GitHub to deliver, and the examples are of 2019. */
function happenedNow(example: Example): Example {
  const { comment, pull_request: pull } = example as Record<string, { merged?: boolean } | undefined>;
  return {
    ...example,
    ...(comment && { comment: { ...comment, created_at: now(), updated_at: now() } }),
    ...(pull?.merged && { pull_request: { ...pull, merged_at: now() } }),
  };
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

/** The examples have no closed issue; it is an opened one in another state. */
function closed(event: string, action: string, examples: readonly Example[]): Example | undefined {
  if (event !== 'issues' || action !== 'closed') return undefined;
  const opened = examples.find((one) => one.action === 'opened');
  return (
    opened && { ...opened, action, issue: { ...(opened.issue as object), state: 'closed', state_reason: 'completed' } }
  );
}

function inventedNumber(): number {
  return FIRST_INVENTED + Math.floor(Math.random() * 9 * FIRST_INVENTED);
}

function ofIssue(example: Example, number: number): Example {
  const issue = example.issue as { html_url: string };
  const url = issue.html_url.replace(/\d+$/, String(number));
  // In GitHub's example the label that was taken away is still there.
  const { labels } = example.action === 'unlabeled' ? { labels: [] } : (example.issue as { labels: unknown[] });
  return {
    ...example,
    issue: { ...issue, labels, id: 4_000_000_000 + number, number, html_url: url, updated_at: now() },
  };
}
