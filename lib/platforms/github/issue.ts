import * as z from 'zod/mini';
import { installation, instant, login, readPayload, repository, text } from './payload.ts';

const issue = z.lazy(() =>
  z.object({
    id: z.int(),
    number: z.int(),
    title: text(4_096),
    body: z.nullish(z.string()),
    html_url: text(4_096),
    /** Null for a deleted account. */
    user: z.nullish(z.object({ login, type: z.nullish(z.string()) })),
    author_association: z.nullish(z.string()),
    state: z.nullish(text(255)),
    state_reason: z.nullish(text(255)),
    created_at: instant,
    updated_at: instant,
    type: z.nullish(z.object({ name: text(255) })),
    labels: z.nullish(z.array(z.object({ name: text(255) })).check(z.maxLength(400))),
  }),
);

const issuesPayload = z.lazy(() =>
  z.object({
    action: z.string(),
    issue,
    /** Who brought the event about. */
    sender: z.nullish(z.object({ login, type: z.nullish(z.string()) })),
    repository,
    /** Of `transferred` the new issue, of `opened` by a transfer the old one, of `edited` the text before. */
    changes: z.nullish(
      z.object({
        body: z.nullish(z.object({ from: z.nullish(z.string()) })),
        new_issue: z.nullish(issue),
        new_repository: z.nullish(repository),
        old_issue: z.nullish(z.object({ id: z.int(), number: z.int() })),
        old_repository: z.nullish(repository),
      }),
    ),
    installation: z.nullish(installation),
  }),
);

export type GithubIssue = z.output<typeof issue>;

/**
 * The fields of an `issues` delivery that the relay uses.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#issues
 */
export type IssuesPayload = z.output<typeof issuesPayload>;

/** @throws {PayloadError} */
export function readIssuesPayload(payload: unknown): IssuesPayload {
  return readPayload('issues', issuesPayload, payload);
}

/** @throws {PayloadError} */
export function readIssue(answer: unknown): GithubIssue {
  return readPayload('issue', issue, answer);
}
