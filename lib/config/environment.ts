import * as z from 'zod/mini';

const schema = z.object({
  /** `prod`; a dimension of the metrics. */
  STAGE: z.string().check(z.minLength(1)),
  /** The state table. */
  TABLE_NAME: z.string().check(z.minLength(1)),
  /** Queue of the lane `interactive`. */
  INTERACTIVE_QUEUE_URL: z.url(),
  /** Queue of the lane `background`. */
  BACKGROUND_QUEUE_URL: z.url(),
  /** What the names of this stage's secrets begin with: `partner-relay/prod/`. */
  SECRET_PREFIX: z.string().check(z.minLength(1)),
  /** Where account-link is reached from browsers, for the function that makes links to it. */
  ACCOUNT_LINK_URL: z.optional(z.url()),
});

/** What a function needs to know of where it runs. */
export type Environment = z.output<typeof schema>;

/** @throws {Error} that names every variable that is missing or wrong */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The function's environment is not usable: ${faults.join('; ')}`);
}
