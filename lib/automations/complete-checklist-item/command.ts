import { type ItemsCommand, readItems } from '../../commands/checklist-items.ts';
import { eventOf, type JobVerb } from '../verb.ts';
import { checklistItemJobs } from './jobs.ts';

function itemsVerb(
  verb: ItemsCommand['verb'],
  shown: Pick<JobVerb<ItemsCommand>, 'usage' | 'does' | 'examples'>,
): JobVerb<ItemsCommand> {
  const print = ({ items }: ItemsCommand) => [verb, ...items].join(' ');
  return {
    ...shown,
    verb,
    read: (text) => readItems(verb, text),
    print,
    permission: 'done',
    inComments: 'completeChecklistItem',
    job: (command, origin) =>
      checklistItemJobs.draft({
        ...eventOf(verb, print(command), origin),
        input: { items: command.items, completed: verb === 'done' },
      }),
  };
}

export const doneVerb = itemsVerb('done', {
  usage: 'done <number> …',
  does: 'completes checklist items',
  examples: ['done 12 13', 'done 12', 'done #12, 13 and 14'],
});

export const undoVerb = itemsVerb('undo', {
  usage: 'undo <number> …',
  does: 'reopens checklist items',
  examples: ['undo 12', 'undo 12 13'],
});
