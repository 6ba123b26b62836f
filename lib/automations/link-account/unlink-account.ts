import type { Verb } from '../verb.ts';

export interface UnlinkCommand {
  verb: 'unlink';
}

/** It has no job: lib/intake/slack/link-account.ts answers it. */
export const unlinkVerb: Verb<UnlinkCommand> = {
  verb: 'unlink',
  usage: 'unlink',
  does: 'forgets your linked account',
  examples: ['unlink'],
  read: (text) =>
    text === '' ? { command: { verb: 'unlink' } } : { fault: 'unlink takes nothing behind it.', suggestion: 'unlink' },
  print: () => 'unlink',
  permission: null,
  asksBeforeRepeating: false,
};
