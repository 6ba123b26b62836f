import { WRONG_ADDRESS } from '../../service/partner/errors.ts';
import { executableUntil } from '../../service/partner/signed-request.ts';
import type { Waited } from '../record/history.ts';
import { parkingInWords, waitInWords } from '../record/in-plain-words.ts';
import {
  canBeDiscarded,
  continuesAt,
  type Job,
  type Parked,
  type ParkKind,
  questionOf,
  waitOf,
  whoIsAsked,
} from '../record/job.ts';

/** An operator's decision about a job. `done`, `again` and `search` resolve an unknown outcome. */
export type Choice = 'replay' | 'answer' | 'discard' | 'done' | 'again' | 'search';

/** The next step for a job that has not succeeded. */
export interface NextStep {
  /** One sentence. */
  text: string;
  /** The decisions that are possible now, safest first. */
  choices: readonly Choice[];
  /** The decisions that become possible at `from`, in epoch milliseconds. */
  later?: { from: number; choices: readonly Choice[] };
  /** The section of the docs that explains the state. */
  docs: string;
}

/**
 * Says what to do next about a job. The terminal, the console and messages show the same sentence.
 *
 * @param time formats epoch milliseconds for the reader
 * @param now epoch milliseconds
 * @returns undefined for a job that has ended for good
 */
export function nextStep(job: Job, time: (ms: number) => string, now: number): NextStep | undefined {
  switch (job.status) {
    case 'succeeded':
    case 'not-done':
      return undefined;
    case 'queued':
      return { text: 'Nothing to do: a worker takes it next.', choices: [], docs: 'docs/stuck.md#queued-or-running' };
    case 'running':
      return { text: 'Nothing to do: a worker is on it.', choices: [], docs: 'docs/stuck.md#queued-or-running' };
    case 'waiting':
      return nextStepOfWaiting(job, time, now);
    case 'parked':
      return nextStepOfParked(job.parked, time, now, job.wakeAt);
  }
}

/** @param parkedAt epoch milliseconds */
export function nextStepOfParked(
  { kind, open, asks }: Pick<Parked, 'kind' | 'open' | 'asks'> = { kind: 'needs an operator' },
  time: (ms: number) => string,
  now: number,
  parkedAt = now,
): NextStep {
  const { helps, docs } = parkingInWords[kind];
  if (asks && helps !== undefined)
    return { text: 'It asks you a question: answer it, or discard the job.', choices: ['answer', 'discard'], docs };
  if (helps !== undefined) return { text: helps, choices: ['replay', 'discard'], docs };
  // The request was signed before the job was parked.
  const { operation = 'a creation', isSought = true, until = executableUntil(parkedAt) } = open ?? {};
  const isOver = now >= until;
  const search = isSought ? (['search'] as const) : [];
  const look = isSought ? 'Search once more, or look in the service for the marker' : 'Look in the service';
  const wait = isOver ? '' : `wait until ${time(until)}, because the service may still create it; then `;
  const early = [...search, 'done'] as const;
  const late = ['again', 'discard'] as const;
  return {
    text: `The service gave no clear answer to ${operation}. ${look}. If you find what was created, enter its id. If not, ${wait}create it again, or discard the job.`,
    choices: isOver ? [...early, ...late] : early,
    ...(!isOver && { later: { from: until, choices: late } }),
    docs,
  };
}

export function parkKindOf({ parked }: Pick<Job, 'parked'>): ParkKind {
  return parked?.kind ?? 'needs an operator';
}

function nextStepOfWaiting(job: Job, time: (ms: number) => string, now: number): NextStep {
  const wait = waitOf(job);
  const question = questionOf(job);
  if (question)
    return {
      text: `Nothing to do: it waits until ${time(question.until)} for the answer of ${whoIsAsked(question, job)} in Slack.`,
      choices: canBeDiscarded(job) ? ['discard'] : [],
      docs: 'docs/stuck.md#waiting',
    };
  return {
    text: whatToDo(job, wait) ?? `Nothing to do: it ${whenItContinues(job, time, now)}.`,
    choices: canBeDiscarded(job) && (job.openUntil ?? 0) <= now ? ['replay', 'discard'] : ['replay'],
    // The connection also decides when the job continues.
    docs: wait?.for === 'outage' || wait?.for === 'key' ? 'docs/stuck.md#connections' : 'docs/stuck.md#waiting',
  };
}

function whatToDo({ connection }: Job, wait: Waited | undefined): string | undefined {
  if (wait?.for === 'operator') return 'Do what the reason says, within a day. The relay looks every four minutes.';
  if (wait?.why.includes(WRONG_ADDRESS))
    return `Check the base URL in partner/${connection}, and the proxy in front of the service. When the address answers, the jobs continue by themselves. On one machine, a relay with another base URL starts without them.`;
  if (wait?.for !== 'key') return undefined;
  return `Enter a new key with npx partner-relay secrets set partner/${connection}. If the relay runs on one machine, restart it then. After that, the jobs continue within five minutes.`;
}

function whenItContinues(job: Job, time: (ms: number) => string, now: number): string {
  const when = continuesAt(job);
  if (when === undefined) return 'waits in line, and continues by itself';
  if (when === 'probed') return 'continues as soon as its calls work again';
  if (when.at <= now) return 'continues within a minute';
  const kind = waitOf(job)?.for;
  const at = `${when.isForecast ? 'about ' : ''}${time(when.at)}`;
  // The reason says what failed.
  if (kind === undefined || kind === 'retry') return `tries again at ${at}`;
  return kind === 'pause' ? `continues within a minute after ${at}` : `waits until ${at} ${waitInWords[kind].what}`;
}

const COMMANDS: Readonly<Record<Choice, (id: string) => string>> = {
  replay: (id) => `replay ${id}`,
  answer: (id) => `replay ${id} --reason <answer>`,
  discard: (id) => `discard ${id} --reason <why>`,
  done: (id) => `resolve ${id} --done <id of what was created>`,
  again: (id) => `resolve ${id} --again`,
  search: (id) => `resolve ${id} --search`,
};

/** Returns the sentence with a reference to the section that explains more. */
export function withDocs({ text, docs }: NextStep): string {
  return `${text} See ${docs}.`;
}

/**
 * Returns the commands for the choices, without `npx partner-relay`.
 *
 * @param time formats the time from which later choices are possible. Without it, they are left out.
 */
export function commandsOf({ id }: Pick<Job, 'id'>, next: NextStep, time?: (ms: number) => string): string[] {
  const { choices, later = { from: 0, choices: [] } } = next;
  const command = (choice: Choice) => COMMANDS[choice](id);
  return [
    ...choices.map(command),
    ...(time ? later.choices.map((choice) => `${command(choice)}   (from ${time(later.from)})`) : []),
  ];
}
