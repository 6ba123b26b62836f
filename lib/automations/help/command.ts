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

export const statusVerb: AnsweredVerb<{ verb: 'status' }> = {
  isAnswered: true,
  verb: 'status',
  usage: 'status',
  does: 'shows your last jobs, what is waiting and until when, and the budget',
  examples: ['status'],
  read: (text) =>
    text === '' ? { command: { verb: 'status' } } : { fault: 'status takes no arguments.', suggestions: ['status'] },
  print: () => 'status',
  permission: null,
};
