import type * as z from 'zod/mini';
import { type Drafted, type Fields, type InputOf, inputOf, type Trigger } from './trigger.ts';

/** A part of the signature's own header, such as `t` of `t=1614265330,v1=…`, or another header. */
type Place = `part:${string}` | `header:${string}`;

/** An HMAC in a header, of the body and of what stands around it. */
export interface Hmac {
  header: string;
  encoding: 'hex' | 'base64';
  /** In front of the signature: `sha256=`, `v1=`. Several signatures are separated by commas, semicolons or spaces. */
  prefix: string;
  hash: 'sha1' | 'sha256' | 'sha512';
  /** What the secret is: the text itself, or Base64 of the key. */
  key: 'text' | 'base64';
  /** What is signed, as `{part:t}.{body}`. A request without one of these parts and headers is refused. */
  signs: `${string}{body}${string}`;
  /** Where the time of the signing is, which `signs` names, too. A request more than five minutes off is refused. */
  time?: Place | undefined;
  /** What the time is: seconds or milliseconds since 1970, or ISO 8601. */
  unit: 's' | 'ms' | 'iso';
}

/** How the sender of a webhook proves that it knows the secret. Data only: no code of a team runs before that. */
export type Verification =
  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  { by: 'standard' } | ({ by: 'hmac' } & Hmac) | { by: 'token'; header: string };

/**
 * The HMAC of a request in a header: by default HMAC-SHA256 of the body alone, as Sentry, PagerDuty and Linear send it.
 * docs/guides/senders.md has what to write for others.
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

/** The secret itself in a header, as GitLab sends it. It proves less: who reads one request can send others. */
export const token = ({ header }: { header: string }): Verification => ({ by: 'token', header });

/**
 * What the sender asks the address to answer before it sends events, in a field of the body, as `payload.plainToken`, or in
 * a header, which the answer repeats.
 */
export type Challenge =
  | { header: string }
  | {
      field: string;
      /** The JSON of the answer: `{value}` is what was asked, `{hmac}` its HMAC in hex. Without it, the value as a text. */
      answer?: Readonly<Record<string, '{value}' | '{hmac}'>>;
    };

/** What a request has of these headers, by their names in lowercase. */
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
  /** Answered while the webhook has no secret, and then to a verified request. It makes no job. */
  challenge?: Challenge;
  /** The headers that `job` gets. Most senders do not sign them. */
  headers?: readonly Name[];
  /** What is read of the JSON. A body that does not match makes no job. */
  body: z.ZodMiniType<Body>;
  /** The fields that `run` gets; together at most 8 KB. */
  input: F;
  /** Required where relay.config.ts has several. */
  connection?: string;
  /** Makes a job of the verified body, several, or says why there is none. It is pure: it may run again. */
  job(body: Body, headers: HeadersOf<Name>): Drafted<InputOf<F>>;
}

/** Takes a POST of any other tool at `/hooks/<name of the file>`. Its secret is in the secret `hooks`. */
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
