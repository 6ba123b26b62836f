import * as z from 'zod';

/** A text of some form. The message begins with "expected". */
export const textLike = (form: RegExp, message: string) => z.string().regex(form, message);

export const wholeNumber = (least: number, most: number) => z.int().min(least).max(most);

/** A switch that is off unless the configuration sets it. */
export const offByDefault = (description: string) =>
  z
    .boolean()
    .default(false)
    .meta({ description, examples: [true] });

/** A list of at least one entry. */
export const listOfSome = <T extends z.ZodType>(entry: T) => z.array(entry).min(1);
