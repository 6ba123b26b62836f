import * as z from 'zod/mini';

/** Where the app is installed. https://docs.slack.dev/reference/methods/auth.test */
export const workspace = z.object({
  team_id: z.string(),
  enterprise_id: z.nullish(z.string()),
  is_enterprise_install: z.nullish(z.boolean()),
});
export type Workspace = z.output<typeof workspace>;

/** The workspace that the user belongs to. https://docs.slack.dev/reference/objects/user-object */
export const membership = {
  team_id: z.nullish(z.string()),
  enterprise_user: z.nullish(z.object({ enterprise_id: z.nullish(z.string()) })),
  is_stranger: z.nullish(z.boolean()),
};
type Membership = z.output<ReturnType<typeof z.object<typeof membership>>>;

/**
 * True if the user belongs to the workspace or organization of the app. `is_stranger` alone does not show it: Slack
 * leaves it out, or sends false, for some people of other workspaces that share a channel.
 */
export function isOfWorkspace({ team_id, enterprise_user, is_stranger }: Membership, ours: Workspace): boolean {
  if (is_stranger) return false;
  const enterpriseId = enterprise_user?.enterprise_id;
  return team_id === ours.team_id || (Boolean(ours.enterprise_id) && enterpriseId === ours.enterprise_id);
}
