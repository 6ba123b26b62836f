import type * as z from 'zod/mini';
import { type Drafted, type Fields, type InputOf, inputOf, type Trigger } from './trigger.ts';

/** A part of the signature's header, such as `t` in `t=1614265330,v1=…`, or another header. */
type Place = `part:${string}` | `header:${string}`;

/** An HMAC in a header, over the body and other signed parts. */
export interface Hmac {
  header: string;
  encoding: 'hex' | 'base64';
  /** The text before the signature: `sha256=`, `v1=`. Commas, semicolons or spaces separate several signatures. */
  prefix: string;
  hash: 'sha1' | 'sha256' | 'sha512';
  /** How the secret contains the key: as text, or as Base64. */
  key: 'text' | 'base64';
  /** The signed text, such as `{part:t}.{body}`. A request without one of these parts or headers is refused. */
  signs: `${string}{body}${string}`;
  /**
   * The place of the signing time, which `signs` must contain, too. A request more than five minutes off is refused.
   */
  time?: Place | undefined;
  /** The format of the time: seconds or milliseconds since 1970, or ISO 8601. */
  unit: 's' | 'ms' | 'iso';
}

/** How a webhook's sender proves that it knows the secret. Data only, because no code of a team runs before that. */
export type Verification =
  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  { by: 'standard' } | ({ by: 'hmac' } & Hmac) | { by: 'token'; header: string };

/**
 * An HMAC in a header: by default HMAC-SHA256 of the body alone, as Sentry, PagerDuty and Linear send it.
 * docs/guides/senders.md has the settings for others.
 */
export const hmac = (of: Pick<Hmac, 'header' | 'encoding'> & Partial<Hmac>): Verification => ({
  by: 'hmac',
  prefix: '',
  hash: 'sha256',
  key: 'text',
  signs: '{body}',
  unit: 's',
  ...of,
});

/**
 * The secret itself in a header, as GitLab sends it. It proves less: anyone who can read one request can send others.
 */
export const token = ({ header }: { header: string }): Verification => ({ by: 'token', header });

/**
 * A challenge that the sender wants answered before it sends events: a field of the body, such as `payload.plainToken`,
 * or a header that the answer repeats.
 */
export type Challenge =
  | { header: string }
  | {
      field: string;
      /**
       * The JSON of the answer: `{value}` is the challenge, `{hmac}` its HMAC in hex. Without `answer`, the challenge
       * as text.
       */
      answer?: Readonly<Record<string, '{value}' | '{hmac}'>>;
    };

/** A request's values of these headers, by their names in lowercase. */
type HeadersOf<Name extends string> = Readonly<Record<Lowercase<Name>, string | undefined>>;

export interface WebhookTrigger<Body = unknown, Input = unknown> extends Trigger<'webhook', Input> {
  verify: Verification;
  challenge?: Challenge | undefined;
  headers: readonly string[];
  body: z.ZodMiniType<Body>;
  connection: string | undefined;
  job(body: Body, headers: HeadersOf<string>): Drafted<Input>;
}

interface WebhookOptions<Body, F extends Fields, Name extends string> {
  /** Standard Webhooks by default. */
  verify?: Verification;
  /** Answered while the webhook has no secret, and then only in a verified request. Creates no job. */
  challenge?: Challenge;
  /** The headers that `job` gets. Most senders do not sign them. */
  headers?: readonly Name[];
  /** The part of the JSON to read. A body that does not match creates no job. */
  body: z.ZodMiniType<Body>;
  /** The fields that `run` gets; together at most 8 KB. */
  input: F;
  /** Required if relay.config.ts has several connections. */
  connection?: string;
  /**
   * Creates a job from the verified body, or several, or says why there is none. It must be pure, because it may run
   * again.
   */
  job(body: Body, headers: HeadersOf<Name>): Drafted<InputOf<F>>;
}

/** Takes a POST from any other tool at `/hooks/<name of the file>`. Its secret is part of the secret `hooks`. */
export const webhook = <Body, F extends Fields, const Name extends string = never>({
  verify = { by: 'standard' },
  challenge,
  headers = [],
  body,
  input,
  connection,
  job,
}: WebhookOptions<Body, F, Name>): WebhookTrigger<Body, InputOf<F>> => ({
  kind: 'webhook',
  verify,
  challenge,
  headers,
  body,
  connection,
  job,
  input: inputOf(input),
});
