import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

interface Example extends Record<string, unknown> {
  action?: string;
}

/** The lowest number of an invented issue, high enough not to look like a real one. */
const FIRST_INVENTED = 100_000;

/**
 * A payload in GitHub's format, from `@octokit/webhooks-examples`. For an issue event, the issue is new, or has the
 * given number and was updated now.
 *
 * @throws {Error} if there is no example for the event or action; the message lists the available ones
 */
export function exampleDelivery(event: string, action: string | undefined, issueNumber: number | undefined): Example {
  const all = published();
  const examples = all.find(({ name }) => name === event)?.examples;
  if (!examples)
    throw new Error(`there is no example of '${event}'; available events: ${all.map(({ name }) => name).join(', ')}`);
  const wanted = action ?? (event === 'issues' ? 'opened' : undefined);
  const example =
    wanted === undefined
      ? examples[0]
      : (examples.find((one) => one.action === wanted) ?? closed(event, wanted, examples));
  if (!example) {
    const actions = new Set([...examples.map((one) => one.action), ...(event === 'issues' ? ['closed'] : [])]);
    throw new Error(
      `there is no example of '${event}' with the action '${action}'; available actions: ${[...actions].join(', ')}`,
    );
  }
  return event === 'issues' ? ofIssue(example, issueNumber ?? inventedNumber()) : happenedNow(example);
}

let examplesRead: { name: string; examples: Example[] }[] | undefined;

/** The file has megabytes, and the console reads several examples at a time. */
function published(): { name: string; examples: Example[] }[] {
  const path = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  examplesRead ??= JSON.parse(readFileSync(path, 'utf8')) as { name: string; examples: Example[] }[];
  return examplesRead;
}

/** The relay ignores events that are too old for GitHub to deliver, and the examples are from 2019. */
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

/** The examples have no closed issue, so this changes the state of an opened one. */
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
  // GitHub's example still contains the label that was removed.
  const { labels } = example.action === 'unlabeled' ? { labels: [] } : (example.issue as { labels: unknown[] });
  return {
    ...example,
    issue: { ...issue, labels, id: 4_000_000_000 + number, number, html_url: url, updated_at: now() },
  };
}
