import type { AnsweredVerb } from '../verb.ts';

export const unlinkVerb: AnsweredVerb<{ verb: 'unlink' }> = {
  isAnswered: true,
  verb: 'unlink',
  usage: 'unlink',
  does: 'forgets your linked account',
  examples: ['unlink'],
  read: (text) =>
    text === '' ? { command: { verb: 'unlink' } } : { fault: 'unlink takes no arguments.', suggestions: ['unlink'] },
  print: () => 'unlink',
  permission: null,
  needsAccounts: true,
};
