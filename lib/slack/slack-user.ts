import * as z from 'zod';

/** Somebody as `users.info` and `users.lookupByEmail` show them. https://docs.slack.dev/reference/objects/user-object */
export const slackUser = z.object({
  id: z.string(),
  tz: z.string().nullish(),
  /** Seconds east of UTC, now. */
  tz_offset: z.number().nullish(),
  deleted: z.boolean().nullish(),
  is_bot: z.boolean().nullish(),
  /** Of another workspace. */
  is_stranger: z.boolean().nullish(),
  is_email_confirmed: z.boolean().nullish(),
  profile: z.object({ email: z.string().nullish() }),
});

export type SlackUser = z.output<typeof slackUser>;

/** Whether the address is the person's own: whoever can enter any address must not be taken for its owner. */
export function hasProvenAddress({ deleted, is_bot, is_stranger, is_email_confirmed }: SlackUser): boolean {
  return is_email_confirmed !== false && !is_stranger && !is_bot && !deleted;
}
