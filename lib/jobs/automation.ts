import type * as z from 'zod/mini';
import { NeedsOperator } from './interruption.ts';
import { type Job, type JobDraft, jobId } from './job.ts';
import type { Steps } from './steps.ts';
import type { Outcome } from './tell-person.ts';

type Fields = Record<string, unknown>;

/** The jobs of one automation: its name, and what each of them knows. */
export interface JobKind<Input extends Fields> {
  /** The automation's name. It stands in the ids of its jobs. */
  name: string;
  draft(event: EventOf<Input>): JobDraft;
  /** @throws {NeedsOperator} for an input that does not fit, such as one of a version that kept something else */
  inputOf(job: Job): Input;
}

/** What a job is made of. */
export interface EventOf<Input> extends Omit<JobDraft, 'id' | 'automation' | 'input'> {
  /** What makes the event this one and no other: a `trigger_id`, a comment and its line, a team and a day. */
  happened: readonly (string | number)[];
  input: Input;
}

/** @param schema what is read back from the table. A field that a later version adds is optional. */
export function defineJobs<Schema extends z.ZodMiniType<Fields>>(
  name: string,
  schema: Schema,
): JobKind<z.output<Schema>> {
  return {
    name,
    draft({ happened, input, ...draft }) {
      return { ...draft, id: jobId(name, ...happened), automation: name, input };
    },
    inputOf({ id, input }) {
      const read = schema.safeParse(input);
      if (read.success) return read.data;
      const fields = read.error.issues.map(({ path }) => path.join('.')).join(', ');
      throw new NeedsOperator(`the input of ${id} does not fit this version of ${name}: ${fields}`);
    },
  };
}

/** A rule: the steps that it makes of a job. */
export interface Automation {
  name: string;
  /** Carries the job out. May run again at any point, and then goes on where the journal ends. @returns what was done */
  run(job: Job, steps: Steps): Promise<string | Outcome>;
  /**
   * Gives up what the job holds outside its own record, right before the job ends.
   *
   * @param ending where it succeeds, it may throw a RetryAt instead, to run once more
   * @param isHeld whether no other worker has taken the job over
   */
  letGo?(job: Job, ending: 'succeeded' | 'parked', isHeld: () => Promise<boolean>): Promise<void>;
}

/** An automation whose `run` gets the input of its own jobs. */
export function defineAutomation<Input extends Fields>(
  { name, inputOf }: JobKind<Input>,
  run: (input: Input, job: Job, steps: Steps) => Promise<string | Outcome>,
): Automation {
  return { name, run: async (job, steps) => run(inputOf(job), job, steps) };
}
