import * as z from 'zod/mini';

/** The workspace in which the app is installed. https://docs.slack.dev/reference/methods/auth.test */
export const workspace = z.object({
  team_id: z.string(),
  enterprise_id: z.nullish(z.string()),
  is_enterprise_install: z.nullish(z.boolean()),
});
export type Workspace = z.output<typeof workspace>;

/** The user's workspace. https://docs.slack.dev/reference/objects/user-object */
export const membership = {
  team_id: z.nullish(z.string()),
  enterprise_user: z.nullish(z.object({ enterprise_id: z.nullish(z.string()) })),
  is_stranger: z.nullish(z.boolean()),
};
type Membership = z.output<ReturnType<typeof z.object<typeof membership>>>;

/**
 * Returns true if the user belongs to the app's workspace or organization. `is_stranger` alone is not enough: Slack
 * omits it, or sends false, for some people of other workspaces who share a channel.
 */
export function isOfWorkspace({ team_id, enterprise_user, is_stranger }: Membership, ours: Workspace): boolean {
  if (is_stranger) return false;
  const enterpriseId = enterprise_user?.enterprise_id;
  return team_id === ours.team_id || (Boolean(ours.enterprise_id) && enterpriseId === ours.enterprise_id);
}
