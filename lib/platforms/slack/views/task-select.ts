import type { ExternalSelect, InputBlock, PlainTextOption } from '@slack/types';
import { comparableName } from '../../../commands/words.ts';
import { cutToLength } from '../../../text.ts';
import type { KnownName } from '../known-names.ts';
import { input, MAX_OPTIONS, option } from './blocks.ts';

/** The block of a list whose options Slack requests from the relay while a person types. */
export const TASK_SELECT = 'find-task';

/** https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const MAX_VALUE_LENGTH = 150;
const BY_ID = 'id ';
const AS_TYPED = 'text ';

export function taskSelect(label: string, optional: boolean): InputBlock {
  const hint = 'The list has tasks that Partner Relay has seen. For another one, type its id or whole name.';
  const select: ExternalSelect = {
    type: 'external_select',
    action_id: TASK_SELECT,
    min_query_length: 1,
    placeholder: { type: 'plain_text', text: 'Type to search' },
  };
  return input(TASK_SELECT, label, select, { hint, optional });
}

/**
 * Returns the tasks whose names contain all typed words, or whose ids begin with the typed text. Names that begin with
 * the text come first; the text itself comes last.
 */
export function taskOptions(tasks: readonly KnownName[], typed: string): PlainTextOption[] {
  const text = comparableName(typed);
  const words = new Set(text.split(' '));
  const wanted = tasks.flatMap((task) => {
    const name = comparableName(task.name);
    const isWanted = task.id.toLowerCase().startsWith(text) || [...words].every((word) => name.includes(word));
    return isWanted ? { task, rank: name.startsWith(text) ? 1 : 0 } : [];
  });
  const found = wanted.toSorted((a, b) => b.rank - a.rank).map(({ task }) => task);
  const isTwice = ({ name }: KnownName) => found.filter((other) => other.name === name).length > 1;
  const known = found.map((task) =>
    option(isTwice(task) ? `${cutToLength(task.name, 30, '…')} (${task.id})` : task.name, BY_ID + task.id),
  );
  const asTyped = text === '' ? [] : [option(`“${cutToLength(typed, 50, '…')}”, as typed`, AS_TYPED + typed)];
  const fitting = known.filter(({ value }) => fits(value));
  return [...fitting.slice(0, MAX_OPTIONS - 1), ...asTyped.filter(({ value }) => fits(value))];
}

/** Reads the chosen option: a certain task, or the typed text. */
export function chosenTask(value: string): { id: string } | { typed: string } {
  return value.startsWith(BY_ID) ? { id: value.slice(BY_ID.length) } : { typed: value.slice(AS_TYPED.length) };
}

const fits = (value: string | undefined) => value !== undefined && value.length <= MAX_VALUE_LENGTH;
