import * as z from 'zod/mini';
import { installation, instant, login, repository, text } from '../payload.ts';

/** https://docs.github.com/en/rest/pulls/pulls#list-pull-requests */
export const checkedPull = z.lazy(() =>
  z.object({
    id: z.int(),
    number: z.int(),
    state: text(255),
    body: z.nullish(z.string()),
    html_url: z.optional(text(2_000)),
    updated_at: instant,
    head: z.object({ sha: text(64) }),
    base: z.object({ ref: text(255), repo: z.object({ default_branch: text(255) }) }),
    /** Null for a deleted account. */
    user: z.nullish(z.object({ login, type: z.nullish(z.string()) })),
    author_association: z.nullish(z.string()),
    labels: z.array(z.object({ name: text(255) })),
  }),
);
export type CheckedPull = z.output<typeof checkedPull>;

const always = { repository, installation: z.nullish(installation) };

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request */
export const checkedPullPayload = z.lazy(() =>
  z.object({
    ...always,
    action: z.string(),
    pull_request: checkedPull,
    /** Only for `synchronize`: the head before it. */
    before: z.nullish(text(64)),
  }),
);

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run */
export const checkRunPayload = z.lazy(() =>
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
);

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group */
export const mergeGroupPayload = z.lazy(() => z.object({ ...always, merge_group: z.object({ head_sha: text(64) }) }));
