import * as z from 'zod/mini';
import { type SlackApi, SlackRefusal } from '../slack-api.ts';

/** A modal that was opened before all of its content was known. */
export const openedView = z.union([
  /** The hash of the view as opened. A modal that has changed since is not updated. */
  z.object({ id: z.string(), hash: z.string() }),
  /** The relay's own id of the modal, if Slack did not confirm the opening. */
  z.object({ externalId: z.string() }),
]);
export type OpenedView = z.output<typeof openedView>;

/** The modal was submitted or closed in the meantime, or never opened. */
const GONE = /^(not_found|view_not_found|hash_conflict)$/;

/** Adds content to an open modal, keeping the person's input. @returns false if it is no longer open */
export async function updateModal(slack: SlackApi, opened: OpenedView, view: object): Promise<boolean> {
  try {
    const which = 'id' in opened ? { view_id: opened.id, hash: opened.hash } : { external_id: opened.externalId };
    await slack.call('views.update', { ...which, view }, z.object({}));
    return true;
  } catch (error) {
    if (error instanceof SlackRefusal && GONE.test(error.error)) return false;
    throw error;
  }
}
