import type { Job } from './job.ts';

/** What an operator can decide about a job. */
export type Choice = 'replay' | 'resolve';

/** What to do next about a job that is parked. */
export interface NextStep {
  /** One sentence. */
  text: string;
  /** What an operator can decide now, the best first. */
  choices: readonly Choice[];
}

/** What helps, by the kind of the parking. */
export const HELP = {
  'outcome unknown':
    'It is unknown whether the service created it: look there, then resolve the job as done (it exists), again (it does not exist) or search (let the relay look once more).',
  'needs an operator': 'It cannot continue by itself: correct what the reason names, then replay the job.',
} as const;

/**
 * What to do next about a job: the same sentence in the terminal, in notices and in alarms.
 *
 * @returns undefined for a job that is not parked
 */
export function nextStep({ parked }: Pick<Job, 'parked'>): NextStep | undefined {
  if (!parked) return undefined;
  return parked.outcomeUnknown
    ? { text: HELP['outcome unknown'], choices: ['resolve'] }
    : { text: HELP['needs an operator'], choices: ['replay'] };
}

const COMMANDS: Readonly<Record<Choice, (id: string) => string[]>> = {
  replay: (id) => [`replay ${id}`],
  resolve: (id) => ['--done <id of what was created>', '--again', '--search'].map((how) => `resolve ${id} ${how}`),
};

/** The commands for the choices, without `npm run -s relay --`. */
export function commandsOf({ id }: Pick<Job, 'id'>, { choices }: NextStep): string[] {
  return choices.flatMap((choice) => COMMANDS[choice](id));
}
