import * as z from 'zod/mini';

export const issueStateShape = z.object({
  /** `acme/web#42` */
  name: z.string(),
  title: z.string(),
  body: z.string(),
  author: z.string(),
  url: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  state: z.string(),
  stateReason: z.nullable(z.string()),
  /** Sorted, so that the same labels give an equal state. */
  labels: z.array(z.string()),
  /** GitHub's type of the issue. Missing if it has none. */
  type: z.exactOptional(z.string()),
});

/** The newest known state of an issue, reduced to the fields that a defect shows. */
export type IssueState = z.output<typeof issueStateShape>;
