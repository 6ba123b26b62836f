import * as z from 'zod/mini';
import { installation, instant, login, repository, text } from './payload.ts';

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
