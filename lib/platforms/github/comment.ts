import * as z from 'zod/mini';
import { installation, instant, login, repository, text } from './payload.ts';

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
