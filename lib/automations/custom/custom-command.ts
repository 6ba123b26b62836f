import { excerpt, type Reading } from '../../commands/fault.ts';
import { asTyped, firstWord, inQuotationMarks, unquoted } from '../../commands/words.ts';
import { type Parameter, parametersOf, verbIn } from '../../triggers/command.ts';
import type { CustomOf } from '../../triggers/custom-automation.ts';
import { eventOf, type Verb } from '../verb.ts';
import { customJob, MOST_INPUT_BYTES } from './custom-drafts.ts';

/** A custom command: the text typed for each of its parameters. */
export interface CustomCommand {
  verb: string;
  values: Readonly<Record<string, string>>;
}

/** Creates the verb of a custom command from its usage text. Reading a command loads no code of the team. */
export function customVerb(of: CustomOf<'command'>): Verb<CustomCommand> {
  const { name, usage, does, example, permission = null, inComments } = of;
  const verb = verbIn(usage);
  const parameters = parametersOf(usage);
  const print = (given: readonly Parameter[], values: CustomCommand['values']) => {
    const end = given.findLastIndex(({ name }) => values[name] !== undefined) + 1;
    return [verb, ...given.slice(0, end).map((one) => typed(values[one.name] ?? '', one))].join(' ');
  };
  return {
    isCustom: true,
    verb,
    usage,
    does,
    examples: [example],
    permission,
    ...(inComments && { inComments }),
    read: (text) => read(verb, parameters, text),
    print: ({ values }) => print(parameters, values),
    job({ values }, origin) {
      // The last parameter may be free text, which must not be logged.
      const words = parameters.filter(({ isRest }) => !isRest);
      return customJob(name, { ...eventOf(verb, print(words, values), origin), input: values });
    },
  };
}

function read(verb: string, parameters: readonly Parameter[], text: string): Reading<CustomCommand> {
  const values: Record<string, string> = {};
  let left = text;
  for (const { name, isOptional, isRest } of parameters) {
    const first = isRest ? { word: unquoted(left), rest: '' } : firstWord(left);
    if (!first) return { fault: `The quotation mark before ${excerpt(left.slice(1))} is not closed.` };
    if (first.word !== '') values[name] = first.word;
    else if (!isOptional) return { missing: `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}` };
    left = first.rest;
  }
  if (left !== '') {
    return {
      fault: `{slash} ${verb} does not take ${excerpt(left)}, too. Put a text of several words in quotation marks.`,
    };
  }
  if (Buffer.byteLength(JSON.stringify(values)) > MOST_INPUT_BYTES) {
    return {
      fault: `That is too long: {slash} ${verb} takes ${MOST_INPUT_BYTES} characters at most, and letters such as ä count twice.`,
    };
  }
  return { command: { verb, values } };
}

/** Formats a value as a person has to type it. */
function typed(value: string, { isRest }: Parameter): string {
  if (isRest) return asTyped(value);
  const first = firstWord(value);
  return value !== '' && first?.word === value && first.rest === '' ? value : inQuotationMarks(value);
}
