import * as z from 'zod/mini';

/** The newest known state of an issue, reduced to what a defect shows. */
export interface IssueState {
  /** `acme/web#42` */
  name: string;
  title: string;
  body: string;
  author: string;
  url: string;
  /** ISO 8601. */
  createdAt: string;
  state: string;
  stateReason: string | null;
  /** Sorted, so that the same labels give the same state. */
  labels: string[];
  /** GitHub's type of the issue. Missing without one. */
  type?: string;
}

export const issueStateShape = z.object({
  name: z.string(),
  title: z.string(),
  body: z.string(),
  author: z.string(),
  url: z.string(),
  createdAt: z.string(),
  state: z.string(),
  stateReason: z.nullable(z.string()),
  labels: z.array(z.string()),
  type: z.exactOptional(z.string()),
} satisfies Record<keyof IssueState, z.ZodMiniType>);
