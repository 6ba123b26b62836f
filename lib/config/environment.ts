import * as z from 'zod/mini';

/** The value of `STAGE` on one machine. No deployed stage has this name. */
export const ONE_MACHINE = 'local';

const schema = z.object({
  /** The stage, such as `prod`; also a dimension of the metrics. */
  STAGE: z.string().check(z.minLength(1)),
  TABLE_NAME: z.string().check(z.minLength(1)),
  INTERACTIVE_QUEUE_URL: z.url(),
  BACKGROUND_QUEUE_URL: z.url(),
  /** The prefix of the names of this stage's secrets, such as `partner-relay/prod/`. */
  SECRET_PREFIX: z.string().check(z.minLength(1)),
  /** The address of account-link for browsers, for the function that creates links to it. */
  ACCOUNT_LINK_URL: z.optional(z.url()),
  /** `false` while the stage is stopped: events are stored, and no job runs. */
  RUNNING: z._default(z.enum(['true', 'false']), 'true'),
  /** The stage's proxy, if it has one, and the hosts that are called directly. Node reads both, too. */
  HTTPS_PROXY: z.optional(z.string()),
  NO_PROXY: z.optional(z.string()),
  /**
   * The address of AWS, if it differs from AWS's own.
   * https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
   */
  AWS_ENDPOINT_URL: z.optional(z.url()),
  AWS_ENDPOINT_URL_DYNAMODB: z.optional(z.url()),
  AWS_ENDPOINT_URL_SECRETS_MANAGER: z.optional(z.url()),
  AWS_ENDPOINT_URL_SQS: z.optional(z.url()),
  /**
   * Set by Lambda for functions that it starts.
   * https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
   */
  AWS_LAMBDA_INITIALIZATION_TYPE: z.optional(z.string()),
});

export type Environment = z.output<typeof schema>;

/** @throws {Error} if variables are missing or invalid; the message names all of them */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The function's environment is not usable: ${faults.join('; ')}`);
}
