import * as z from 'zod/mini';
import { installation, readPayload, repository } from './payload.ts';

const issue = z.object({
  id: z.int(),
  number: z.int(),
  title: z.string(),
  body: z.nullish(z.string()),
  html_url: z.string(),
  /** Null for a deleted account. */
  user: z.nullish(z.object({ login: z.string() })),
  state: z.nullish(z.string()),
  state_reason: z.nullish(z.string()),
  updated_at: z.string(),
  labels: z.nullish(z.array(z.object({ name: z.string() }))),
});

const issuesPayload = z.object({
  action: z.string(),
  issue,
  repository,
  /** Of `transferred` the new one, of `opened` by a transfer the old one. */
  changes: z.nullish(
    z.object({
      new_issue: z.nullish(issue),
      new_repository: z.nullish(repository),
      old_issue: z.nullish(z.object({ id: z.int(), number: z.int() })),
      old_repository: z.nullish(repository),
    }),
  ),
  installation: z.nullish(installation),
});

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
