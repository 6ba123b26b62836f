import * as z from 'zod/mini';

/** The fields of an input, as declared in a file: `{ tag: z.string() }`. */
export type Fields = Readonly<Record<string, z.ZodMiniType>>;

/** The part of an event that its job keeps. */
export type JobInput = Record<string, unknown>;

/** The input with these fields. */
export type InputOf<F extends Fields> = z.output<z.ZodMiniObject<F, z.core.$strip>>;

/** A job that an event creates. */
export interface Draft<Input> {
  /**
   * Identifies the event, from the signed payload alone: an id, or an id and a version. The same event creates one job,
   * however often it is delivered.
   */
  happened: readonly [string | number, ...(string | number)[]];
  /**
   * When the event happened: ISO 8601 or epoch milliseconds. Without it, the event is remembered forever, so that an
   * old, replayed delivery creates no second job.
   */
  at?: string | number | null | undefined;
  input: Input;
  /** What the job does, in one line of at most 200 characters. Lists of jobs show it instead of the event. */
  title?: string;
  /** The subject of the job, in at most 600 characters. Jobs with the same subject run one after the other. */
  entity?: string;
}

/** The result for an event: a job, several, or the reason why there is none. */
export type Drafted<Input> = Draft<Input> | readonly Draft<Input>[] | string;

/** The common fields of all triggers. */
export interface Trigger<Kind extends string, Input> {
  kind: Kind;
  /** Reads a job's input as stored in the table. */
  input: z.ZodMiniType<Input>;
}

/** Declares an input with these fields. A field that is added later must be optional. */
export const inputOf = <F extends Fields>(fields: F): z.ZodMiniType<InputOf<F>> => z.object(fields);
