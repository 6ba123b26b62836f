import { bare, type Verb } from '../verb.ts';

export const helpVerb: Verb<{ verb: 'help' }> = {
  ...bare('help', 'shows this'),
  examples: ['help', '?'],
  read: () => ({ command: { verb: 'help' } }),
  permission: null,
};

export const statusVerb: Verb<{ verb: 'status' }> = {
  ...bare('status', 'shows your last jobs, what is waiting and until when, and the budget'),
  permission: null,
};
