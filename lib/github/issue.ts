import * as z from 'zod';
import { PayloadError } from './delivery.ts';

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

const repository = z.object({ full_name: z.string() });

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
  installation: z.object({ id: z.int() }).nullish(),
});

export type GithubIssue = z.output<typeof issue>;

/**
 * The fields of an `issues` delivery that the relay uses.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#issues
 */
export type IssuesPayload = z.output<typeof issuesPayload>;

/** @throws {PayloadError} that names each field which is missing or of another type */
export function readIssuesPayload(payload: unknown): IssuesPayload {
  const parsed = issuesPayload.safeParse(payload);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
  throw new PayloadError(`the issues payload cannot be read: ${fields.slice(0, 5).join('; ')}`);
}
