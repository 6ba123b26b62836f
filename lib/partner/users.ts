import * as z from 'zod';
import { id, maybe, operation } from './operation.ts';

/** Users are read only; path and fields are assumed. */
export const listUsers = operation({
  name: 'users/list',
  evidence: 'assumed',
  effect: 'read',
  success: 200,
  payload: z.strictObject({ page: z.int().optional(), per_page: z.int().optional() }),
  data: z.array(z.looseObject({ user_id: id, name: maybe(z.string()), email: maybe(z.string()) })),
});
