import { type AnsweredVerb, bare } from '../verb.ts';

export const helpVerb: AnsweredVerb<{ verb: 'help' }> = {
  ...bare('help', 'shows this'),
  isAnswered: true,
  examples: ['help', '?'],
  read: () => ({ command: { verb: 'help' } }),
  permission: null,
};

export const statusVerb: AnsweredVerb<{ verb: 'status' }> = {
  ...bare('status', 'shows your last jobs, what is waiting and until when, and the budget'),
  isAnswered: true,
  permission: null,
};
