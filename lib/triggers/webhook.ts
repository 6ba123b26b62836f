import type * as z from 'zod/mini';
import { type Drafted, type Fields, type InputOf, inputOf, type Trigger } from './trigger.ts';

/** How the sender of a webhook proves that it knows the secret. Data only: no code of a team runs before that. */
export type Verification =
  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  | { by: 'standard' }
  | {
      by: 'hmac';
      header: string;
      encoding: 'hex' | 'base64';
      /** In front of the signature: `sha256=`, `v1=`. Several signatures are separated by commas or spaces. */
      prefix: string;
      /** The header with the time of the signing, in seconds, that is signed in front of the body, as `time.body`. */
      timestamp: string | undefined;
    }
  | { by: 'token'; header: string };

/** The HMAC-SHA256 of the body in a header, as Sentry, PagerDuty and Linear send it. */
export const hmac = (of: {
  header: string;
  encoding: 'hex' | 'base64';
  prefix?: string;
  timestamp?: string;
}): Verification => ({
  by: 'hmac',
  prefix: '',
  ...of,
  header: of.header.toLowerCase(),
  timestamp: of.timestamp?.toLowerCase(),
});

/** The secret itself in a header, as GitLab sends it. It proves less: who reads one request can send others. */
export const token = ({ header }: { header: string }): Verification => ({ by: 'token', header: header.toLowerCase() });

export interface WebhookTrigger<Body = unknown, Input = unknown> extends Trigger<'webhook', Input> {
  verify: Verification;
  body: z.ZodMiniType<Body>;
  connection: string | undefined;
  job(body: Body): Drafted<Input>;
}

interface WebhookOptions<Body, F extends Fields> {
  /** Standard Webhooks by default. */
  verify?: Verification;
  /** What is read of the JSON. A body that does not match makes no job. */
  body: z.ZodMiniType<Body>;
  /** The fields that `run` gets; together at most 8 KB. */
  input: F;
  /** Required where relay.config.ts has several. */
  connection?: string;
  /** Makes a job of the verified body, several, or says why there is none. It is pure: it may run again. */
  job(body: Body): Drafted<InputOf<F>>;
}

/** Takes a POST of any other tool at `/hooks/<name of the file>`. Its secret is in the secret `hooks`. */
export const webhook = <Body, F extends Fields>({
  verify = { by: 'standard' },
  body,
  input,
  connection,
  job,
}: WebhookOptions<Body, F>): WebhookTrigger<Body, InputOf<F>> => ({
  kind: 'webhook',
  verify,
  body,
  connection,
  job,
  input: inputOf(input),
});
