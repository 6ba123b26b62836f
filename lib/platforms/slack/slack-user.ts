import * as z from 'zod';
import type { SlackApi } from './slack-api.ts';
import { isOfWorkspace, membership, workspace } from './workspace.ts';

/** A user as `users.info` and `users.lookupByEmail` return it. https://docs.slack.dev/reference/objects/user-object */
export const slackUser = z.object({
  id: z.string(),
  tz: z.string().nullish(),
  /** The current offset in seconds east of UTC. */
  tz_offset: z.number().nullish(),
  deleted: z.boolean().nullish(),
  is_bot: z.boolean().nullish(),
  ...membership,
  is_email_confirmed: z.boolean().nullish(),
  real_name: z.string().nullish(),
  profile: z.object({ email: z.string().nullish(), display_name: z.string().nullish() }),
});

export type SlackUser = z.output<typeof slackUser>;

/**
 * Returns the confirmed address of a member of the app's own workspace. A person who can enter any address, or whose
 * address another workspace confirms, must not be mistaken for its owner.
 *
 * @throws {SlackRefusal | PlatformRateLimited | PlatformUnanswered} if Slack does not say where the app is installed
 */
export async function provenAddress(user: SlackUser, slack: SlackApi): Promise<string | undefined> {
  const { deleted, is_bot, is_email_confirmed, profile } = user;
  if (!profile.email || is_email_confirmed === false || is_bot || deleted) return undefined;
  // Asks each time, because the token determines the workspace, and may have been rotated.
  return isOfWorkspace(user, await slack.call('auth.test', {}, workspace)) ? profile.email : undefined;
}
