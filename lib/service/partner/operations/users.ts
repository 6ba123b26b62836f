import * as z from 'zod';
import { assumedText, id, lists, operation, untyped } from '../operation.ts';

/** The relay only reads users. Path and fields are assumed. */
export const listUsers = operation({
  name: 'users/list',
  evidence: 'assumed',
  ...lists,
  payload: z.looseObject({ page: untyped, per_page: untyped }),
  data: z.array(z.looseObject({ user_id: id, name: assumedText, email: assumedText })),
});
