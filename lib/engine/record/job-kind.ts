import type * as z from 'zod/mini';
import type { JobInput } from '../../triggers/trigger.ts';
import { NeedsOperator } from './interruption.ts';
import { type Job, type JobDraft, jobId } from './job.ts';

/** The jobs of one automation: its name, and the input of each job. */
export interface JobKind<Input extends JobInput> {
  /** The automation's name. It is part of its jobs' ids. */
  name: string;
  draft(event: EventOf<Input>): JobDraft;
  /** @throws {NeedsOperator} if the input does not match the schema */
  inputOf(job: Job): Input;
}

export interface EventOf<Input> extends Omit<JobDraft, 'id' | 'automation' | 'input'> {
  /** Identifies the event: a `trigger_id`, a comment and its line, a team and a day. */
  happened: readonly (string | number)[];
  input: Input;
}

/** @param schema the input as read back from the table. A field that a later version adds must be optional. */
export function defineJobs<Schema extends z.ZodMiniType<JobInput>>(
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
