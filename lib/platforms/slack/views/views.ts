import type { InputBlock, ModalView, PlainTextElement, PlainTextInput, PlainTextOption } from '@slack/types';
import * as z from 'zod/mini';
import { chunks } from '../../../chunks.ts';
import type { SlackConfig } from '../../../config/schema.ts';
import { cutToLength } from '../../../text.ts';
import { placeAsked } from '../command-button.ts';
import type { KnownProject } from '../known-projects.ts';
import { plainSection, section } from '../messages.ts';
import { input, MAX_OPTIONS, modal, option } from './blocks.ts';
import { taskSelect } from './task-select.ts';

export const DEFECT_MODAL = 'defect';
export const LOG_TIME_MODAL = 'log-time';
/** A button that opens the form to log time on the task in its value. */
export const LOG_TIME_BUTTON = 'log-time';
/** A button that opens the form to log missing time on one of the person's tasks. */
export const LOG_REST_BUTTON = 'log-rest';
/** A button that stops the person's reminders for the day in its value. */
export const MUTE_BUTTON = 'mute';
export const DEFECT_SHORTCUT = 'create-defect';

/** A group of options in a long list. */
interface OptionGroup {
  label: PlainTextElement;
  options: PlainTextOption[];
}

/** Slack accepts views of up to 250 KB: https://docs.slack.dev/reference/methods/views.open */
const MAX_OPTIONS_BYTES = 220_000;
const CUT = '\n[Cut here: a form holds 3,000 characters.]';
const CUT_MESSAGE = `${CUT.slice(0, -1)} The defect has a link to the whole message.]`;
/** https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element */
const MAX_INPUT_LENGTH = 3_000;
const MAX_TITLE_LENGTH = 255;
const MAX_NOTE_LENGTH = 500;

/** The origin of the modal, stored in the modal. */
export const defectMemory = z.object({ channelId: z.string(), permalink: z.optional(z.string()) });
export const logTimeMemory = z.object({ connection: z.string(), task: z.optional(z.string()) });

const task = z.object({ id: z.string(), name: z.string() });

/** The value of a {@link LOG_TIME_BUTTON}. The button may be pressed in another channel than the command's. */
export const taskToLog = z.object({ ...placeAsked.shape, task });

/** The value of a {@link LOG_REST_BUTTON}. */
export const restOfDay = z.object({
  connection: z.string(),
  date: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
  /** The day's missing minutes; 0 if time is missing only in the week. */
  minutes: z.int(),
  /** When the timesheet was read, in epoch milliseconds. */
  at: z.int(),
  tasks: z.readonly(z.array(task)),
});
export type RestOfDay = z.output<typeof restOfDay>;

export interface DefectModal {
  memory: z.output<typeof defectMemory>;
  /** Undefined while no projects are known. */
  projects: readonly KnownProject[] | undefined;
  projectId?: string | undefined;
  title?: string | undefined;
  description?: string | undefined;
}

/** The modal for creating a defect. Without known projects, it shows that their list is loading. */
export function defectModal(settings: SlackConfig, shown: DefectModal): ModalView {
  const { types, priorities, severities } = settings.defect;
  const { memory, projects, projectId, title = '' } = shown;
  const cut = memory.permalink === undefined ? CUT : CUT_MESSAGE;
  return modal(DEFECT_MODAL, memory, { title: 'Create a defect', submit: 'Create' }, [
    ...projectBlocks(projects, projectId),
    textInput('title', 'Title', { initial: cutToLength(title, MAX_TITLE_LENGTH), max: MAX_TITLE_LENGTH }),
    textInput('description', 'Description', {
      initial: cutToLength(descriptionOf(shown), MAX_INPUT_LENGTH, cut),
      max: MAX_INPUT_LENGTH,
      multiline: true,
      optional: true,
    }),
    choice('type', 'Type', types),
    choice('priority', 'Priority', priorities),
    choice('severity', 'Severity', severities),
  ]);
}

/** Moves text that does not fit into the title to the description. */
function descriptionOf({ title = '', description = '' }: DefectModal): string {
  const isWhole = title.length <= MAX_TITLE_LENGTH || description.startsWith(title);
  return isWhole ? description : `${title}\n\n${description}`.trim();
}

export interface LogTimeModal {
  connection: string;
  /** The task, or the tasks from which the person chooses; they can also type another one. */
  on: { id: string; name: string } | readonly { id: string; name: string }[];
  /** True if people type the task because they act in their own name: the key may see tasks that they may not. */
  isTyped?: boolean;
  /** The proposed day and duration. */
  date?: string;
  duration?: string;
}

export function logTimeModal({ connection, on, isTyped = false, date, duration }: LogTimeModal): ModalView {
  const memory: z.output<typeof logTimeMemory> = { connection, task: 'id' in on ? on.id : undefined };
  return modal(LOG_TIME_MODAL, memory, { title: 'Log time', submit: 'Log' }, [
    ...('id' in on ? [plainSection(`On ${on.name}`)] : taskInputs(on, isTyped)),
    textInput('duration', 'How long', { max: 20, hint: 'Such as 1h30m, 1.5h, 90m or 1:30.', initial: duration }),
    input(
      'date',
      'On which day',
      { type: 'datepicker', action_id: 'date', initial_date: date },
      { hint: 'Leave it empty for today.', optional: true },
    ),
    textInput('note', 'Note', { max: MAX_NOTE_LENGTH, optional: true }),
  ]);
}

function taskInputs(tasks: readonly { id: string; name: string }[], isTyped: boolean): InputBlock[] {
  const optional = tasks.length > 0;
  const label = optional ? 'Or another task' : 'Task';
  const another = isTyped
    ? textInput('another', label, { max: MAX_TITLE_LENGTH, hint: 'Its id, or its whole name.', optional })
    : taskSelect(label, optional);
  const options = tasks.map(({ id, name }) => option(name, id));
  return optional ? [selectInput('task', 'Task', { options, initial: options[0] }), another] : [another];
}

function projectBlocks(projects: readonly KnownProject[] | undefined, chosen: string | undefined) {
  if (projects === undefined) return [section('_The list of projects is being fetched…_')];
  if (projects.length === 0) return [section('Partner Relay sees no projects.')];
  return [projectInput(projects, chosen)];
}

function projectInput(projects: readonly KnownProject[], chosen: string | undefined): InputBlock {
  const byName = [...projects].sort((a, b) => a.name.localeCompare(b.name));
  const options = fitting(byName.map(({ id, name }) => option(name, id)));
  const initial = options.find(({ value }) => value === chosen);
  if (options.length <= MAX_OPTIONS) return selectInput('project', 'Project', { options, initial });
  const groups = chunks(options, MAX_OPTIONS).map((part): OptionGroup => {
    const label = `${initials(part[0])} – ${initials(part.at(-1))}`;
    return { label: { type: 'plain_text', text: label }, options: part };
  });
  return selectInput('project', 'Project', { groups, initial });
}

/** Returns as many options as fit into a modal. */
function fitting(options: readonly PlainTextOption[]): PlainTextOption[] {
  let room = MAX_OPTIONS_BYTES;
  return options.filter((option) => {
    room -= Buffer.byteLength(JSON.stringify(option)) + 1;
    return room >= 0;
  });
}

function initials(of: PlainTextOption | undefined): string {
  return cutToLength(of?.text.text ?? '', 12);
}

function choice(block: string, label: string, values: readonly string[]): InputBlock {
  const options = values.map((value) => option(value, value));
  return selectInput(block, label, { options, initial: options[0] });
}

function selectInput(
  block: string,
  label: string,
  {
    options,
    groups,
    initial,
  }: { options?: PlainTextOption[]; groups?: OptionGroup[]; initial?: PlainTextOption | undefined },
): InputBlock {
  return input(block, label, {
    type: 'static_select',
    action_id: block,
    options,
    ...(groups && { option_groups: groups }),
    ...(initial && { initial_option: initial }),
  });
}

function textInput(
  block: string,
  label: string,
  shown: { initial?: string | undefined; max: number; hint?: string; multiline?: true; optional?: boolean },
): InputBlock {
  const { initial, max, multiline } = shown;
  const text: PlainTextInput = {
    type: 'plain_text_input',
    action_id: block,
    max_length: max,
    ...(multiline && { multiline }),
    ...(initial && { initial_value: initial }),
  };
  return input(block, label, text, shown);
}
