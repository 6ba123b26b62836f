import { excerpt } from '../../commands/fault.ts';
import { idIn } from '../../commands/words.ts';
import { eventOf, type JobVerb } from '../verb.ts';
import { relateJobs } from './jobs.ts';

const KINDS = { task: 'task', case: 'test case', step: 'test step' } as const;

export interface RelateCommand {
  verb: 'relate';
  defect: string;
  what: keyof typeof KINDS;
  id: string;
}

const notAnId = (typed: string, what: string) => ({
  fault: `${excerpt(typed)} is not the id of a ${what}. ${what === 'task' ? '{slash} find <part of the name> shows it' : 'The service shows the ids'}.`,
});

const printRelate = ({ defect, what, id }: RelateCommand) => `relate ${defect} ${what} ${id}`;

export const relateVerb: JobVerb<RelateCommand> = {
  verb: 'relate',
  usage: 'relate <defect> <task|case|step> <id>',
  does: 'links a defect to a task, a test case or a test step',
  examples: ['relate 4711 task 12', 'relate 4711 case 8', 'relate 4711 step 15'],
  read(text) {
    const [first = '', word = '', ...rest] = text.replace(/^(\S+) (?:to|with|and) /i, '$1 ').split(' ');
    const what = (['task', 'case', 'step'] as const).find((kind) => kind === word.toLowerCase());
    const [defect, id] = [idIn(first), idIn(rest.join(' '))];
    if (defect === undefined) return first === '' ? { missing: 'the id of a defect' } : notAnId(first, 'defect');
    if (!what && word !== '' && idIn(word) === undefined)
      return { fault: `A defect can be linked to a task, a case or a step, not to ${excerpt(word)}.` };
    if (!what) return { missing: 'the word task, case or step' };
    if (id === undefined && rest.length > 0) return notAnId(rest.join(' '), KINDS[what]);
    if (id === undefined) return { missing: `the id of a ${KINDS[what]}` };
    return { command: { verb: 'relate', defect, what, id } };
  },
  print: printRelate,
  permission: 'defect',
  job: (command, origin) =>
    relateJobs.draft({
      ...eventOf('relate', printRelate(command), origin),
      input: { defect: command.defect, to: { kind: KINDS[command.what], named: command.id } },
    }),
};
