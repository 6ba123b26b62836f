import * as z from 'zod/mini';
import type { Steps } from '../jobs/steps.ts';
import { type SlackApi, SlackRefusal } from './slack-api.ts';
import { withJobErrors } from './with-job-errors.ts';

/** A modal that was opened before all was known that it shows. */
export const openedView = z.union([
  /** The hash is of what was opened: a modal that has changed since is left alone. */
  z.object({ id: z.string(), hash: z.string() }),
  /** Slack did not say whether it was opened: by the id that the relay gave it. */
  z.object({ externalId: z.string() }),
]);
export type OpenedView = z.output<typeof openedView>;

/** It was sent off or closed meanwhile, or never opened. */
const GONE = /^(not_found|view_not_found|hash_conflict)$/;

/** Shows in an open modal what is known by now; what was entered stays. @returns whether it was open still */
export function updateModal(
  slack: SlackApi,
  clock: () => number,
  steps: Steps,
  opened: OpenedView,
  view: object,
): Promise<boolean> {
  return steps.read('update the modal', 'Slack views.update', () =>
    withJobErrors(clock, async () => {
      try {
        const which = 'id' in opened ? { view_id: opened.id, hash: opened.hash } : { external_id: opened.externalId };
        await slack.call('views.update', { ...which, view }, z.object({}));
        return true;
      } catch (error) {
        if (error instanceof SlackRefusal && GONE.test(error.error)) return false;
        throw error;
      }
    }),
  );
}
