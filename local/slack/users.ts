import { type Arguments, SlackError } from './call-arguments.ts';
import { type SlackUser, TEAM_ID, type Workspace } from './workspace.ts';

const BOT_ID = 'U0RELAY01';

/** https://docs.slack.dev/reference/methods/auth.test */
export function authTest({ installation }: Workspace): Record<string, unknown> {
  const { teamId, enterpriseId, isEnterpriseInstall } = installation;
  return {
    user_id: BOT_ID,
    team_id: teamId,
    enterprise_id: enterpriseId ?? null,
    is_enterprise_install: isEnterpriseInstall,
  };
}

/** https://docs.slack.dev/reference/methods/users.info */
export function userInfo({ users }: Workspace, { user: id = '' }: Arguments): Record<string, unknown> {
  const user = users.get(id);
  if (!user) throw new SlackError('user_not_found');
  return { user: shown(user) };
}

/** People who have left are not found: https://docs.slack.dev/reference/methods/users.lookupByEmail */
export function lookupByEmail({ users }: Workspace, { email: wanted = '' }: Arguments): Record<string, unknown> {
  const user = [...users.values()].find((one) => !one.deleted && one.email?.toLowerCase() === wanted.toLowerCase());
  if (!user) throw new SlackError('users_not_found');
  return { user: shown(user) };
}

function shown(user: SlackUser): Record<string, unknown> {
  const { name, email, deleted = false, tz, tz_offset, is_bot = false, is_stranger, is_email_confirmed = true } = user;
  const { team_id = TEAM_ID, enterprise_id, is_restricted = false, is_ultra_restricted = false } = user;
  return {
    id: user.id,
    team_id,
    name: name.toLowerCase().replaceAll(' ', '.'),
    real_name: name,
    deleted,
    is_bot,
    is_restricted,
    is_ultra_restricted,
    ...(enterprise_id !== undefined && { enterprise_user: { enterprise_id } }),
    is_email_confirmed,
    ...(is_stranger !== undefined && { is_stranger }),
    ...(tz !== undefined && { tz }),
    ...(tz_offset !== undefined && { tz_offset }),
    profile: { real_name: name, ...(email !== undefined && { email }) },
  };
}

/** https://docs.slack.dev/reference/methods/usergroups.users.list */
export function listUserGroup({ userGroups }: Workspace, { usergroup = '' }: Arguments): Record<string, unknown> {
  const users = userGroups.get(usergroup);
  if (!users) throw new SlackError('no_such_subteam');
  return { users };
}
