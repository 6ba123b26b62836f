import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';

export const checkJobs = defineJobs(
  'check-pull-request',
  z.object({
    /** As configured: owner/name. */
    repository: z.string(),
    installationId: z.optional(z.int()),
    of: z.union([
      /** `rerunBy`: the login of the person who pressed Re-run. */
      z.object({ pullNumber: z.int(), rerunBy: z.optional(z.string()) }),
      /** The commit of a merge queue. */
      z.object({ headSha: z.string() }),
    ]),
  }),
);

/** The external id of its check run. */
export const externalIdOf = (pullNumber: number) => `pull request ${pullNumber}`;

export function pullNumberIn(externalId: string | null | undefined): number | undefined {
  const [, digits] = /^pull request (\d{1,15})$/.exec(externalId ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}
