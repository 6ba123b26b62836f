import * as z from 'zod';
import { installation, readPayload, repository } from './payload.ts';

const issue = z.object({
  id: z.int(),
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  /** Null for a deleted account. */
  user: z.object({ login: z.string() }).nullish(),
  state: z.string().nullish(),
  state_reason: z.string().nullish(),
  updated_at: z.string(),
  labels: z.array(z.object({ name: z.string() })).nullish(),
});

const issuesPayload = z.object({
  action: z.string(),
  issue,
  repository,
  /** Of `transferred` the new one, of `opened` by a transfer the old one. */
  changes: z
    .object({
      new_issue: issue.nullish(),
      new_repository: repository.nullish(),
      old_issue: z.object({ id: z.int(), number: z.int() }).nullish(),
      old_repository: repository.nullish(),
    })
    .nullish(),
  installation: installation.nullish(),
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
