import * as z from 'zod/mini';

const text = z.string().check(z.minLength(1));

/** The `hooks` secret: what the senders of each webhook of the team know, by the name of its file; two in a rotation. */
export const hooksSecret = z.record(z.string(), z.union([text, z.array(text)]));

/** How a person enters one of them, as `hooks/<automation>`. */
export const hookSecret = z.object({ secret: text, previous: z.optional(text) });
