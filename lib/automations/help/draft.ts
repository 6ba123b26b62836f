import type { AnsweredVerb } from '../verb.ts';

export const helpVerb: AnsweredVerb<{ verb: 'help' }> = {
  isAnswered: true,
  verb: 'help',
  usage: 'help',
  does: 'shows this',
  examples: ['help', '?'],
  read: () => ({ command: { verb: 'help' } }),
  print: () => 'help',
  permission: null,
};
