import { inPlainForm } from '../../commands/words.ts';
import { bare, type Verb } from '../verb.ts';

export interface LinkCommand {
  verb: 'link';
  /** The code that the browser shows after the sign-in, such as `482-913`; not checked yet. */
  code?: string;
}

export const linkVerb: Verb<LinkCommand> = {
  verb: 'link',
  usage: 'link [code]',
  does: 'links your account, so that commands can act in your name',
  examples: ['link', 'link 482-913'],
  read(text) {
    if (text === '') return { command: { verb: 'link' } };
    // Matches commands for `relate`, such as `link 4711 with task 12`.
    if (/\b(?:task|case|step|to|with)\b/i.test(text))
      return { fault: '{slash} relate links a defect to a task, a case or a step.' };
    return { command: { verb: 'link', code: inPlainForm(text).replace(/^(\d{3})[- ]?(\d{3})$/, '$1-$2') } };
  },
  print: ({ code }) => (code === undefined ? 'link' : `link ${code}`),
  permission: null,
  needsAccounts: true,
};

export const unlinkVerb: Verb<{ verb: 'unlink' }> = {
  ...bare('unlink', 'forgets your linked account'),
  permission: null,
  needsAccounts: true,
};
