import * as z from 'zod/mini';

/** The fields of an input, as a file declares them: `{ tag: z.string() }`. */
export type Fields = Readonly<Record<string, z.ZodMiniType>>;

/** What a job keeps of its event. */
export type JobInput = Record<string, unknown>;

/** An input with these fields. */
export type InputOf<F extends Fields> = z.output<z.ZodMiniObject<F, z.core.$strip>>;

/** A job that an event makes. */
export interface Draft<Input> {
  /**
   * What tells this event from any other, from the signed payload alone: an id, or an id and a version. The same event
   * makes one job, however often it is delivered.
   */
  happened: readonly [string | number, ...(string | number)[]];
  /**
   * When it happened: ISO 8601 or epoch milliseconds. Without it, the event is remembered without an end, so that an old
   * delivery that is replayed makes no second job.
   */
  at?: string | number | null | undefined;
  input: Input;
  /** What the job does, in one line of at most 200 characters. Lists of jobs show it in place of the event. */
  title?: string;
  /** What the job is about, in at most 600 characters. Jobs about the same thing run one after the other. */
  entity?: string;
}

/** What becomes of an event: a job, several, or the reason why there is none. */
export type Drafted<Input> = Draft<Input> | readonly Draft<Input>[] | string;

/** What every trigger has. */
export interface Trigger<Kind extends string, Input> {
  kind: Kind;
  /** Reads the input of a job, as it comes back from the table. */
  input: z.ZodMiniType<Input>;
}

/** An input with these fields. A field that a later version adds must be optional. */
export const inputOf = <F extends Fields>(fields: F): z.ZodMiniType<InputOf<F>> => z.object(fields);
