import { find } from '../../store.ts';
import { tool } from './tool.ts';

export const people = [
  tool({
    name: 'who_am_i',
    title: 'Who am I',
    description: 'The person you act as, the workspace and the scopes.',
    scope: null,
    kind: 'reads',
    required: {},
    optional: {},
    run(_, { store, caller }) {
      const user = find(store.data.users, 'user_id', caller.user_id);
      return {
        person: caller.user_id,
        name: user?.name ?? '',
        email: user?.email ?? '',
        workspace: caller.workspace?.name ?? null,
        scopes: caller.scopes,
      };
    },
  }),
  tool({
    name: 'list_members',
    title: 'List workspace members',
    description: 'The members of the workspace.',
    scope: 'mcp:users.read',
    kind: 'reads',
    required: {},
    optional: {},
    run(_, { store, caller }) {
      const { users } = store.data;
      const found = caller.workspace?.members.flatMap(({ user_id }) => find(users, 'user_id', user_id) ?? []) ?? users;
      return { members: found.map(({ user_id, name, email }) => ({ person: user_id, name, email })) };
    },
  }),
];
