import * as z from 'zod';

/** A text of a given form. The message begins with "expected". */
export const textLike = (form: RegExp, message: string) => z.string().regex(form, message);

export const wholeNumber = (least: number, most: number) => z.int().min(least).max(most);

/** A setting with its description and example values for docs/configuration.md. */
export const setting = <T extends z.ZodType>(schema: T, description: string, ...examples: z.input<T>[]): T =>
  schema.meta({ description, ...(examples.length > 0 && { examples }) });

/** A switch that is off unless the configuration sets it. */
export const offByDefault = (description: string) => setting(z.boolean().default(false), description, true);

/** A list of at least one entry. */
export const listOfSome = <T extends z.ZodType>(entry: T) => z.array(entry).min(1);
