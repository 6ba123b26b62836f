import type { AnsweredVerb } from '../verb.ts';

export interface UnlinkCommand {
  verb: 'unlink';
}

export const unlinkVerb: AnsweredVerb<UnlinkCommand> = {
  isAnswered: true,
  verb: 'unlink',
  usage: 'unlink',
  does: 'forgets your linked account',
  examples: ['unlink'],
  read: (text) =>
    text === ''
      ? { command: { verb: 'unlink' } }
      : { fault: 'unlink takes nothing behind it.', suggestions: ['unlink'] },
  print: () => 'unlink',
  permission: null,
  needsAccounts: true,
};
