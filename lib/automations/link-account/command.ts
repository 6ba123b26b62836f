import { inPlainForm } from '../../commands/words.ts';
import { bare, type Verb } from '../verb.ts';

export interface LinkCommand {
  verb: 'link';
  /** The code that the browser shows after the sign-in, such as `482-913`. */
  code?: string;
}

export const linkVerb: Verb<LinkCommand> = {
  verb: 'link',
  usage: 'link [code]',
  does: 'links your account, so that what you ask for is done in your name',
  examples: ['link', 'link 482-913'],
  read(text) {
    if (text === '') return { command: { verb: 'link' } };
    const [, first, second] = /^(\d{3})[- ]?(\d{3})$/.exec(inPlainForm(text)) ?? [];
    if (first === undefined || second === undefined) {
      return {
        fault:
          'A code has six digits, such as 482-913. To begin, type link alone. To link a defect to a task, a test case or a ' +
          'test step, type relate and their ids.',
        // Excludes commands for `relate`, such as `link 4711 with task 12`.
        ...(!/\b(?:task|case|step)\b/i.test(text) && { suggestions: ['link'] }),
      };
    }
    return { command: { verb: 'link', code: `${first}-${second}` } };
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
