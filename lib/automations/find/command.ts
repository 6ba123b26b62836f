import * as z from 'zod/mini';
import { asTyped, unquoted } from '../../commands/words.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { eventOf, type JobVerb } from '../verb.ts';

export const searchJobs = defineJobs('find', z.object({ text: z.string() }));

export interface FindCommand {
  verb: 'find';
  text: string;
}

export const LISTED =
  'Partner Relay cannot list your tasks: open them in the service. {slash} find <text> searches all tasks and projects by name.';
export const OF_TASKS = /^(?:(?:my|all|meine|alle|mes|mis) )?(?:open )?(?:tasks|aufgaben|tâches|tareas)$/i;

const printFind = ({ text }: { text: string }) => `find ${asTyped(text)}`;

export const findVerb: JobVerb<FindCommand> = {
  verb: 'find',
  usage: 'find <text>',
  does: 'searches tasks and projects',
  examples: ['find checkout'],
  read(typed) {
    const text = unquoted(typed);
    if (OF_TASKS.test(typed)) return { fault: LISTED };
    return text === '' ? { missing: 'a text to search for' } : { command: { verb: 'find', text } };
  },
  print: printFind,
  permission: 'find',
  job(command, origin) {
    const event = eventOf('find', printFind(command), origin);
    // A search has a queue group of its own, so it does not wait for the person's earlier commands.
    return searchJobs.draft({ ...event, group: `${origin.entity}-find`, input: { text: command.text } });
  },
};
