import type { WaitsFor } from '../record/history.ts';
import { canBeDiscarded, continuesAt, continuesInWords, type Job, type ParkKind, waitOf } from '../record/job.ts';

/** What an operator can decide about a job. */
export type Choice = 'replay' | 'discard' | 'resolve';

/** What to do next about a job that has not succeeded. */
export interface NextStep {
  /** One sentence. */
  text: string;
  /** What an operator can decide now, the best first. */
  choices: readonly Choice[];
  /** The section that explains the state, from the root of the repository. */
  docs: string;
}

/** What helps, by the kind of the parking. */
export const HELP: Readonly<Record<ParkKind, string>> = {
  refused:
    'The service refused it: correct what the reason names, in the source, in relay.config.ts or in the service, such as the rights of the key, then replay the job, or discard it.',
  'outcome unknown':
    'It is unknown whether the service created it: look there, then resolve the job as done (it exists), again (it does not exist) or search (let the relay look once more).',
  failed: 'Every attempt failed: once the cause that the reason names is gone, replay the job, or discard it.',
  'needs an operator':
    'It cannot continue by itself: correct what the reason names, then replay the job, or discard it.',
};

const DOCS_OF_PARKED: Readonly<Record<ParkKind, string>> = {
  refused: 'docs/stuck.md#refused',
  'outcome unknown': 'docs/stuck.md#unknown-outcome',
  failed: 'docs/stuck.md#failed',
  'needs an operator': 'docs/stuck.md#needs-an-operator',
};

const WAITS: Readonly<Record<WaitsFor, string>> = {
  budget: 'the budget',
  retry: 'the next attempt',
  answer: 'whether a creation without a clear answer was carried out',
  'late call': 'the time from which no older call can arrive',
  outage: 'an outage to end',
  key: 'another key',
  job: 'another job',
  pause: 'its time',
  operator: 'an operator',
};

/** Where more than the job decides when it continues. */
const DOCS_OF_WAITING: Readonly<Partial<Record<WaitsFor, string>>> = {
  outage: 'docs/stuck.md#connections',
  key: 'docs/stuck.md#connections',
};

/**
 * What to do next about a job: the same sentence in the terminal, the console and messages.
 *
 * @param time writes a time as its reader should see it, from epoch milliseconds
 * @param now epoch milliseconds
 * @returns undefined for a job that has ended well
 */
export function nextStep(job: Job, time: (ms: number) => string, now: number): NextStep | undefined {
  switch (job.status) {
    case 'succeeded':
      return undefined;
    case 'queued':
      return { text: 'Nothing to do: a worker takes it next.', choices: [], docs: 'docs/stuck.md#queued-or-running' };
    case 'running':
      return { text: 'Nothing to do: a worker is on it.', choices: [], docs: 'docs/stuck.md#queued-or-running' };
    case 'waiting':
      return nextStepOfWaiting(job, time, now);
    case 'parked':
      return nextStepOfParked(parkKindOf(job));
  }
}

export function nextStepOfParked(kind: ParkKind): NextStep {
  return {
    text: HELP[kind],
    choices: [kind === 'outcome unknown' ? 'resolve' : 'replay', 'discard'],
    docs: DOCS_OF_PARKED[kind],
  };
}

/** Why a job is parked. */
export function parkKindOf({ parked }: Pick<Job, 'parked'>): ParkKind {
  return parked?.kind ?? 'needs an operator';
}

function nextStepOfWaiting(job: Job, time: (ms: number) => string, now: number): NextStep {
  const kind = waitOf(job)?.for;
  return {
    text: whatToDo(job, kind) ?? `Nothing to do: it ${whenItContinues(job, time, now)}.`,
    choices: canBeDiscarded(job) ? ['replay', 'discard'] : ['replay'],
    docs: (kind && DOCS_OF_WAITING[kind]) ?? 'docs/stuck.md#waiting',
  };
}

function whatToDo({ connection }: Job, kind: WaitsFor | undefined): string | undefined {
  if (kind !== 'key') return undefined;
  return `The service refuses the key of ${connection}: enter a new one with relay secrets set partner/${connection}. Then it continues by itself.`;
}

function whenItContinues(job: Job, time: (ms: number) => string, now: number): string {
  const when = continuesAt(job);
  const kind = waitOf(job)?.for;
  const what = kind === undefined ? '' : ` for ${WAITS[kind]}`;
  if (when === undefined) return `waits in line${what}, and continues by itself`;
  const isOver = when !== 'probed' && when.at <= now;
  return `${isOver ? 'waited' : 'waits'}${what}, and ${continuesInWords(when, time, now)}`;
}

const COMMANDS: Readonly<Record<Choice, (id: string) => string[]>> = {
  replay: (id) => [`replay ${id}`],
  discard: (id) => [`discard ${id} --reason <why>`],
  resolve: (id) => ['--done <id of what was created>', '--again', '--search'].map((how) => `resolve ${id} ${how}`),
};

/** The sentence with the section that explains more. */
export function withDocs({ text, docs }: NextStep): string {
  return `${text} See ${docs}.`;
}

/** The commands for the choices, without `npm run -s relay --`. */
export function commandsOf({ id }: Pick<Job, 'id'>, { choices }: NextStep): string[] {
  return choices.flatMap((choice) => COMMANDS[choice](id));
}
