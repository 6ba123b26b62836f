import * as z from 'zod/mini';
import { PayloadError } from './delivery.ts';

/** A text with a bound, because an item of the table holds 400 KB. */
export const text = (mostCharacters: number) => z.string().check(z.maxLength(mostCharacters));

/**
 * GitHub allows 39 characters for a login and 100 for the name of a repository. A GitHub Enterprise Server may allow
 * more.
 */
export const login = text(255);
export const repository = z.object({ full_name: text(600) });
/** ISO 8601, as GitHub writes it: `2026-11-20T09:59:58Z`. */
export const instant = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, 'expected a time'));
export const installation = z.object({ id: z.int() });

/** @throws {PayloadError} that names each field which is missing or of another type */
export function readPayload<T>(event: string, schema: z.core.$ZodType<T>, payload: unknown): T {
  const parsed = z.safeParse(schema, payload);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
  throw new PayloadError(`the ${event} payload cannot be read: ${fields.slice(0, 5).join('; ')}`);
}

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#issue_comment */
export const commentPayload = z.lazy(() =>
  z.object({
    action: z.string(),
    comment: z.object({
      id: z.int(),
      /** GitHub accepts 65,536 characters of one or two UTF-16 units each. */
      body: z.nullish(text(131_072)),
      author_association: z.string(),
      created_at: instant,
      updated_at: instant,
      user: z.nullish(z.object({ login, type: z.nullish(z.string()) })),
    }),
    issue: z.object({ number: z.int() }),
    sender: z.object({ login }),
    repository,
    /** Only for `edited`. */
    changes: z.nullish(z.object({ body: z.nullish(z.object({ from: z.nullish(z.string()) })) })),
    installation: z.nullish(installation),
  }),
);

export type CommentPayload = z.output<typeof commentPayload>;

const account = z.nullish(z.object({ login, type: z.nullish(z.string()) }));

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request */
export const pullRequestPayload = z.lazy(() =>
  z.object({
    action: z.string(),
    pull_request: z.object({
      id: z.int(),
      number: z.int(),
      body: z.nullish(z.string()),
      html_url: z.optional(text(2_000)),
      merged: z.nullish(z.boolean()),
      merged_at: z.nullish(instant),
      updated_at: instant,
      merged_by: account,
      user: account,
      author_association: z.nullish(z.string()),
      base: z.object({ ref: text(255), repo: z.object({ default_branch: text(255) }) }),
    }),
    sender: account,
    repository,
    /** Only for `edited`. */
    changes: z.nullish(z.object({ body: z.nullish(z.object({ from: z.nullish(z.string()) })) })),
    installation: z.nullish(installation),
  }),
);

export type PullRequestPayload = z.output<typeof pullRequestPayload>;

/** What is kept of a workflow run that has ended. */
export const workflowRun = z.object({
  id: z.int(),
  run_number: z.int(),
  /** From 1; each re-run counts. */
  run_attempt: z.int(),
  event: text(100),
  conclusion: z.nullish(text(100)),
  head_branch: z.nullish(text(1_000)),
  head_sha: text(64),
  created_at: instant,
  updated_at: instant,
  html_url: text(2_000),
});

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#workflow_run */
export const workflowRunPayload = z.lazy(() =>
  z.object({
    action: z.string(),
    workflow: z.nullish(z.object({ path: text(1_000) })),
    // Null for a fork that was deleted.
    workflow_run: z.extend(workflowRun, { head_repository: z.nullish(z.object({ id: z.int() })) }),
    repository: z.object({ id: z.int(), full_name: text(600) }),
    installation: z.nullish(installation),
  }),
);
