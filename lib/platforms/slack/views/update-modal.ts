import * as z from 'zod/mini';
import { type SlackApi, SlackRefusal } from '../slack-api.ts';

/** A modal that was opened before all of its content was known. */
export const openedView = z.union([
  /** The hash of the view as opened. A modal that has changed since is left alone. */
  z.object({ id: z.string(), hash: z.string() }),
  /** If Slack did not confirm the opening: the id that the relay gave the modal. */
  z.object({ externalId: z.string() }),
]);
export type OpenedView = z.output<typeof openedView>;

/** The modal was submitted or closed in the meantime, or never opened. */
const GONE = /^(not_found|view_not_found|hash_conflict)$/;

/** Adds new content to an open modal and keeps the person's input. @returns false if it was no longer open */
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
