import { bare, type Verb } from '../verb.ts';

/** `about` is the command to explain, as typed. */
export interface HelpCommand {
  verb: 'help';
  about?: string;
}

export const helpVerb: Verb<HelpCommand> = {
  verb: 'help',
  usage: 'help [command]',
  does: 'shows this, or more about one command',
  examples: ['help', 'help log', '?'],
  read: (text) => ({ command: text === '' ? { verb: 'help' } : { verb: 'help', about: text } }),
  print: ({ about }) => (about === undefined ? 'help' : `help ${about}`),
  permission: null,
};

export const statusVerb: Verb<{ verb: 'status' }> = {
  ...bare('status', 'shows your last requests, and what they wait for'),
  permission: null,
};
