import { count, operation, paginate } from './operation.ts';

export const users = [
  operation({
    path: '/users/list',
    evidence: 'assumed',
    scope: 'users.read',
    optional: { page: count, per_page: count },
    run: (pages, { data }) => paginate(data.users, pages),
  }),
];
