import * as z from 'zod/mini';
import type { JobDraft } from '../../engine/record/job.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import type { Backfill } from './backfills.ts';

/** A page of a backfill, or its end. */
export const backfillJobs = defineJobs(
  'backfill',
  z.object({
    repository: z.string(),
    startedAt: z.int(),
    /** From 1. */
    page: z.int(),
    /** Where the page begins; without it, at the first issue. */
    cursor: z.optional(z.object({ from: z.string(), page: z.int() })),
    /** True after the last page: the job waits for the issues and counts them. */
    isRead: z.boolean(),
  }),
);

export type BackfillInput = ReturnType<typeof backfillJobs.inputOf>;

/** How often a paused job checks whether it may go on. A resumed backfill wakes its jobs. */
export const PAUSED_LOOKS_EVERY_MS = 10 * 60_000;

export const PAUSED = 'the backfill is paused';

/** The job of a page of a backfill; the first one begins it. */
export function pageDraft(
  { repository, connection, startedAt }: Pick<Backfill, 'repository' | 'connection' | 'startedAt'>,
  { page, cursor, isRead }: Pick<BackfillInput, 'page' | 'cursor' | 'isRead'>,
): JobDraft {
  return backfillJobs.draft({
    happened: [repository, startedAt, page],
    connection,
    lane: 'backfill',
    entity: `backfill-${repository}`,
    summary: isRead ? `backfill of ${repository}: the end` : `backfill of ${repository}: page ${page}`,
    input: { repository, startedAt, page, isRead, ...(cursor && { cursor }) },
  });
}
