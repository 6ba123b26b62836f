import type * as z from 'zod/mini';
import { NeedsOperator } from '../record/interruption.ts';
import { type Job, type JobDraft, jobId } from '../record/job.ts';
import type { Steps } from './steps.ts';
import type { Outcome } from './tell-person.ts';

type Fields = Record<string, unknown>;

/** The jobs of one automation: its name, and the input of each job. */
export interface JobKind<Input extends Fields> {
  /** The automation's name. It is part of its jobs' ids. */
  name: string;
  draft(event: EventOf<Input>): JobDraft;
  /** @throws {NeedsOperator} if the input does not match the schema */
  inputOf(job: Job): Input;
}

/** The event that a job is made from. */
export interface EventOf<Input> extends Omit<JobDraft, 'id' | 'automation' | 'input'> {
  /** Identifies the event: a `trigger_id`, a comment and its line, a team and a day. */
  happened: readonly (string | number)[];
  input: Input;
}

/** @param schema the input as read back from the table. A field that a later version adds must be optional. */
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

/** An automation: it turns a job into steps. */
export interface Automation {
  name: string;
  /**
   * Runs the job. It may be run again at any point, and then continues where the journal ends. @returns what was done
   */
  run(job: Job, steps: Steps): Promise<string | Outcome>;
  /**
   * Releases what the job holds outside its own record, right before the job ends.
   *
   * @param ending if it is `succeeded`, this may throw a RetryAt to run the job once more
   * @param isHeld returns true if no other worker has taken over the job
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
