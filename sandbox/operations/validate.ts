import type { Operation } from './operation.ts';

/**
 * "any object, no required fields", returned unchanged: no field is known, and none is dropped. Assumed: it needs no
 * scope.
 */
export const validate: Operation = {
  path: '/validate',
  evidence: 'documented',
  scope: null,
  success: 200,
  invalid: 422,
  validate: (payload) => payload,
  run: (payload) => ({ data: payload }),
};
