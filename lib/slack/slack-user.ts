import * as z from 'zod';

/** A user as `users.info` and `users.lookupByEmail` return it. https://docs.slack.dev/reference/objects/user-object */
export const slackUser = z.object({
  id: z.string(),
  tz: z.string().nullish(),
  /** Current offset in seconds east of UTC. */
  tz_offset: z.number().nullish(),
  deleted: z.boolean().nullish(),
  is_bot: z.boolean().nullish(),
  /** True for people of another workspace. */
  is_stranger: z.boolean().nullish(),
  is_email_confirmed: z.boolean().nullish(),
  profile: z.object({ email: z.string().nullish() }),
});

export type SlackUser = z.output<typeof slackUser>;

/** True if the address is confirmed. A person who can enter any address must not be mistaken for its owner. */
export function hasProvenAddress({ deleted, is_bot, is_stranger, is_email_confirmed }: SlackUser): boolean {
  return is_email_confirmed !== false && !is_stranger && !is_bot && !deleted;
}
