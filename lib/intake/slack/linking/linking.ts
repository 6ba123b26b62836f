import type * as z from 'zod/mini';
import type { Permissions } from '../../../automations/permissions.ts';
import type { accountToLink } from '../../../platforms/slack/link-messages.ts';
import type { SlackMessage } from '../../../platforms/slack/messages.ts';

export interface Asking {
  userId: string;
  userName: string;
}

/**
 * What people in Slack are answered about linked accounts. linking-on.ts has the answers where a connection links
 * accounts, linking-off.ts where none does. `#linking` is the former, which falls back to the latter; a bundle that needs
 * only the latter has it alone.
 */
export interface Linking {
  /** Where `connections.<name>.mcp.link` is `required`, what a person asks for is done in their own name, or not at all. */
  requiringLink(permissions: Permissions): Permissions;
  /** Answers `link`: with a button, or to a code with what it brought. */
  linkAccount(asking: Asking, typed: { connection: string; code?: string | undefined }): Promise<SlackMessage>;
  /** Makes a link for the person who pressed the button. */
  makeLink(asking: Asking, account: z.output<typeof accountToLink>): Promise<SlackMessage>;
  /** Answers `unlink`. */
  unlinkAccount(userId: string, connection: string): Promise<SlackMessage>;
  /**
   * What to tell a person whose command waits for a link that they have been told of before: a dead link is told in one
   * message, so the answer to a later command has to say it.
   */
  waitsForLink(verb: string, userId: string, connection: string): Promise<string | undefined>;
  /** Who a person acts as, for `status`; empty where accounts are not linked. */
  linkStatus(userId: string, connection: string): Promise<SlackMessage['blocks']>;
}
