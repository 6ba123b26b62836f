import * as z from 'zod';
import { date as day } from '../../operations/operation.ts';

/** The types of arguments that several tools share. */

export const text = z.string('must be a string');
export const date = text
  .refine((given) => day.safeParse(given).success, 'must be a date as YYYY-MM-DD')
  .meta({ format: 'date', description: 'YYYY-MM-DD' });
export const oneOf = <const T extends readonly string[]>(names: T) =>
  z.enum(names, `must be one of ${names.join(', ')}`);
export const priority = oneOf(['low', 'medium', 'high']);
export const project = text.meta({ description: 'Identifier of a project' });
export const task = text.meta({ description: 'Identifier of a task' });
export const item = z.int('must be an integer').meta({ description: 'Identifier of a checklist item' });
export const hours = z.number('must be a number').meta({ description: 'Hours, as a decimal' });
export const boolean = z.boolean('must be true or false');
