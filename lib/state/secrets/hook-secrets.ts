import * as z from 'zod/mini';

const text = z.string().check(z.minLength(1));

/**
 * The `hooks` secret: the secrets of each of the team's webhooks, by its file name. There are two during a rotation.
 */
export const hooksSecret = z.record(z.string(), z.union([text, z.array(text)]));

/**
 * Returns the secrets that a webhook's sender may use. Handles file names that every object has as a member, such as
 * `constructor`.
 */
export const secretsOf = (all: z.output<typeof hooksSecret>, name: string): string[] =>
  Object.hasOwn(all, name) ? [all[name] ?? []].flat() : [];

/** One webhook's secret as a person enters it, under `hooks/<automation>`. */
export const hookSecret = z.object({ secret: text, previous: z.optional(text) });
