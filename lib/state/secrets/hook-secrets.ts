import * as z from 'zod/mini';

const text = z.string().check(z.minLength(1));

/** The `hooks` secret: what the senders of each webhook of the team know, by the name of its file; two in a rotation. */
export const hooksSecret = z.record(z.string(), z.union([text, z.array(text)]));

/** What the sender of that webhook may know. A file can have a name that every object has, such as `constructor`. */
export const secretsOf = (all: z.output<typeof hooksSecret>, name: string): string[] =>
  Object.hasOwn(all, name) ? [all[name] ?? []].flat() : [];

/** How a person enters one of them, as `hooks/<automation>`. */
export const hookSecret = z.object({ secret: text, previous: z.optional(text) });
