import * as z from 'zod/mini';
import { installation, instant, text } from '../payload.ts';

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
