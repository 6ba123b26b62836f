import * as z from 'zod/mini';

/** A delivery with a valid signature that cannot be read. The message names the fault without repeating the value. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}

/** A text of limited length, because a table item holds 400 KB. */
export const text = (mostCharacters: number) => z.string().check(z.maxLength(mostCharacters));

/**
 * GitHub allows 39 characters for a login and 100 for a repository's name. A GitHub Enterprise Server may allow more.
 */
export const login = text(255);
const repository = z.object({ full_name: text(600) });
/** ISO 8601 in GitHub's format, such as `2026-11-20T09:59:58Z`. */
export const instant = z
  .string()
  .check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, 'expected a time'));
const installation = z.object({ id: z.int() });

/** @throws {PayloadError} naming each field that is missing or has another type */
export function readPayload<T>(event: string, schema: z.core.$ZodType<T>, payload: unknown): T {
  const parsed = z.safeParse(schema, payload);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
  throw new PayloadError(`the ${event} payload cannot be read: ${fields.slice(0, 5).join('; ')}`);
}

const account = z.nullish(z.object({ login, type: z.nullish(z.string()) }));
const before = z.nullish(z.object({ from: z.nullish(z.string()) }));
const always = { action: z.string(), repository, installation: z.nullish(installation) };

const issue = z.lazy(() =>
  z.object({
    id: z.int(),
    number: z.int(),
    title: text(4_096),
    body: z.nullish(z.string()),
    html_url: text(4_096),
    /** Null for a deleted account. */
    user: account,
    author_association: z.nullish(z.string()),
    state: z.nullish(text(255)),
    state_reason: z.nullish(text(255)),
    created_at: instant,
    updated_at: instant,
    type: z.nullish(z.object({ name: text(255) })),
    labels: z.nullish(z.array(z.object({ name: text(255) })).check(z.maxLength(400))),
  }),
);

export type GithubIssue = z.output<typeof issue>;

/** @throws {PayloadError} */
export function readIssue(answer: unknown): GithubIssue {
  return readPayload('issue', issue, answer);
}

const pull = {
  id: z.int(),
  number: z.int(),
  state: text(255),
  body: z.nullish(z.string()),
  html_url: z.optional(text(2_000)),
  updated_at: instant,
  head: z.object({ sha: text(64) }),
  base: z.object({ ref: text(255), repo: z.object({ default_branch: text(255) }) }),
  /** Null for a deleted account. */
  user: account,
  author_association: z.nullish(z.string()),
  labels: z.array(z.object({ name: text(255) })),
};

/** https://docs.github.com/en/rest/pulls/pulls#list-pull-requests */
export const openPull = z.lazy(() => z.object(pull));
export type OpenPull = z.output<typeof openPull>;

/** The stored fields of a finished workflow run. */
export const workflowRun = z.object({
  id: z.int(),
  run_number: z.int(),
  /** Begins with 1; each re-run adds one. */
  run_attempt: z.int(),
  event: text(100),
  conclusion: z.nullish(text(100)),
  head_branch: z.nullish(text(1_000)),
  head_sha: text(64),
  created_at: instant,
  updated_at: instant,
  html_url: text(2_000),
});

/**
 * The fields that are read from each event.
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
const shapes = {
  issues: z.lazy(() =>
    z.object({
      ...always,
      issue,
      /** The account that caused the event. */
      sender: account,
      /**
       * For `transferred` the new issue, for `opened` by a transfer the old issue, and for `edited` the previous text.
       */
      changes: z.nullish(
        z.object({
          body: before,
          new_issue: z.nullish(issue),
          new_repository: z.nullish(repository),
          old_issue: z.nullish(z.object({ id: z.int(), number: z.int() })),
        }),
      ),
    }),
  ),
  issue_comment: z.lazy(() =>
    z.object({
      ...always,
      comment: z.object({
        id: z.int(),
        /** GitHub accepts 65,536 characters of one or two UTF-16 units each. */
        body: z.nullish(text(131_072)),
        author_association: z.string(),
        created_at: instant,
        updated_at: instant,
        user: account,
      }),
      issue: z.object({ number: z.int() }),
      sender: z.object({ login }),
      /** Only for `edited`. */
      changes: z.nullish(z.object({ body: before })),
    }),
  ),
  pull_request: z.lazy(() =>
    z.object({
      ...always,
      pull_request: z.object({
        ...pull,
        merged: z.nullish(z.boolean()),
        merged_at: z.nullish(instant),
        merged_by: account,
      }),
      sender: account,
      /** Only for `edited`. */
      changes: z.nullish(z.object({ body: before })),
      /** Only for `synchronize`: the previous head. */
      before: z.nullish(text(64)),
    }),
  ),
  check_run: z.lazy(() =>
    z.object({
      ...always,
      sender: z.object({ login }),
      check_run: z.object({
        id: z.int(),
        external_id: z.nullish(z.string()),
        head_sha: text(64),
        completed_at: z.nullish(instant),
        check_suite: z.nullish(z.object({ updated_at: z.nullish(instant) })),
      }),
    }),
  ),
  merge_group: z.lazy(() => z.object({ ...always, merge_group: z.object({ head_sha: text(64) }) })),
  workflow_run: z.lazy(() =>
    z.object({
      ...always,
      workflow: z.nullish(z.object({ path: text(1_000) })),
      // Null if the fork was deleted.
      workflow_run: z.extend(workflowRun, { head_repository: z.nullish(z.object({ id: z.int() })) }),
      repository: z.object({ id: z.int(), full_name: text(600) }),
    }),
  ),
};

/** An event that built-in automations accept. */
export type TakenEvent = keyof typeof shapes;

export const isTaken = (event: string): event is TakenEvent => Object.hasOwn(shapes, event);

type Payloads = { [Event in TakenEvent]: z.output<(typeof shapes)[Event]> };
export type Payload<Event extends TakenEvent> = Payloads[Event];

export const payloads: { [Event in TakenEvent]: z.core.$ZodType<Payloads[Event]> } = shapes;
