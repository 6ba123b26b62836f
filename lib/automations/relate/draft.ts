import * as z from 'zod/mini';
import { idIn } from '../../commands/words.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { targetKinds } from '../../target.ts';
import { eventOf, type JobVerb } from '../verb.ts';

const issueName = z.object({ repository: z.string(), issueNumber: z.int() });

export const relateJobs = defineJobs(
  'relate',
  z.object({
    defect: z.union([
      z.object({ id: z.string() }),
      /** Those of an issue, by the key of its link, or of the issues that a pull request closes. */
      z.object({ entity: z.string() }),
      z.object({ closed: z.array(z.string()) }),
    ]),
    to: z.union([
      /** `named`: its id; for a task, its id or its name. */
      z.object({ kind: z.enum(targetKinds), named: z.string(), removed: z.optional(z.literal(true)) }),
      /** To the task of this issue. */
      z.object({ parent: issueName }),
    ]),
  }),
);

export type RelateInput = ReturnType<typeof relateJobs.inputOf>;

export interface RelateCommand {
  verb: 'relate';
  defect: string;
  /** The word for the kind of thing, and its id. */
  what: keyof typeof KINDS;
  id: string;
}

const KINDS = { task: 'task', case: 'test case', step: 'test step' } as const;
const isKind = (word: string): word is keyof typeof KINDS => Object.hasOwn(KINDS, word);

const printRelate = ({ defect, what, id }: RelateCommand) => `relate ${defect} ${what} ${id}`;

export const relateVerb: JobVerb<RelateCommand> = {
  verb: 'relate',
  usage: 'relate <defect> <task|case|step> <id>',
  does: 'links a defect to a task, a test case or a test step',
  examples: ['relate 4711 task 12', 'relate 4711 case 8', 'relate 4711 step 15'],
  read(text) {
    const [first = '', word = '', ...rest] = text.split(' ');
    const what = word.toLowerCase();
    const [defect, id] = [idIn(first), idIn(rest.join(' '))];
    if (defect === undefined) return { missing: 'the id of a defect' };
    if (!isKind(what)) return { missing: 'task, case or step' };
    if (id === undefined) return { missing: `the id of a ${KINDS[what]}` };
    return { command: { verb: 'relate', defect, what, id } };
  },
  print: printRelate,
  permission: 'relate',
  asksBeforeRepeating: false,
  job: (command, origin) =>
    relateJobs.draft({
      ...eventOf('relate', printRelate(command), origin),
      input: { defect: { id: command.defect }, to: { kind: KINDS[command.what], named: command.id } },
    }),
};
