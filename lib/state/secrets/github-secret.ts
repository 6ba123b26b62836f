import * as z from 'zod/mini';

/** The `github` secret: an App's key or a token. If both are missing or empty, the relay writes no comments. */
export const githubCredentials = z.object({
  appId: z.optional(z.coerce.string()),
  privateKey: z.optional(z.string()),
  token: z.optional(z.string()),
});
