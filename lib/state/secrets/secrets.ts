import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';

/** An unusable secret. The message names the secret and its missing or invalid fields, but no value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** Not blank. */
const text = z.string().check(z.refine((given) => given.trim() !== '', 'expected a text that is not blank'));

/**
 * The `github-webhook` secret. It is separate from the credentials, so that the public function can read nothing else.
 */
export const githubWebhookSecret = z.object({ webhookSecret: text });

/** The `grants` secret: the key that seals people's grants in the table. */
export const grantsSecret = z.object({ key: z.string().check(z.minLength(32)) });

/** The `markers` secret: the key from which all markers are derived. */
export const markersSecret = grantsSecret;

/** The `intake` secret: the key with which the webhooks sign people's jobs. */
export const intakeSecret = grantsSecret;

/**
 * The `calendar/<team>` secrets: the address of an iCalendar file. The address alone is enough to read the calendar.
 */
export const calendarSecret = z.object({ address: z.url({ protocol: /^https?$/ }) });

/** The part of the `slack` secret that the Slack webhook needs. */
export const slackSigningSecret = z.object({ signingSecret: text });

/** The part of the `slack` secret that messages and modals need. Without a token, the relay sends none. */
export const slackCredentials = z.object({ botToken: z.optional(z.string()) });

/** The complete `slack` secret. */
export const slackSecret = z.extend(slackSigningSecret, slackCredentials.shape);

/** Reads secrets from Secrets Manager, with a cache in memory. */
export interface Secrets {
  /** Returns the current secret. @throws {SecretError} if the secret is missing, empty or malformed */
  current<T>(name: string, schema: z.core.$ZodType<T>): Promise<T>;
  /**
   * Yields the current secret, and for {@link PREVIOUS_VALID_MS} after a rotation also the previous one, which is read
   * on demand.
   */
  accepted<T>(name: string, schema: z.core.$ZodType<T>): AsyncIterable<T>;
  /** Starts to read the secret, so that its first use need not wait. */
  prepare(name: string): void;
  /**
   * Marks the secret as possibly out of date, so that its next use reads it again.
   * @param atMostEveryMs a minute by default, so that forged signatures cannot cause unlimited reads
   * @returns false if the secret was read more recently
   */
  refresh(name: string, atMostEveryMs?: number): boolean;
}

export interface SecretTimes {
  /** Returns when the current version was created; epoch milliseconds. @throws {SecretError} if there is none */
  createdAt(name: string): Promise<number>;
}

/** How long the previous secret is still accepted for incoming requests after a rotation. */
const PREVIOUS_VALID_MS = 24 * 3_600_000;
const REFRESH_AT_MOST_EVERY_MS = 60_000;
/**
 * How long a missing, malformed or refused secret is not read again. Without this pause, every forged request would
 * cause a request to Secrets Manager.
 */
const FAILURE_REMEMBERED_MS = 5_000;

interface Version {
  value: unknown;
  createdAt: number;
}

interface CachedSecret {
  readAt: number;
  /** After this time, the next use reads the secret again. */
  validUntil: number;
  versions: Map<string, Promise<Version | undefined>>;
}

export function createSecrets(
  client: SecretsManagerClient,
  prefix: string,
  clock: () => number,
): Secrets & SecretTimes {
  const cache = new Map<string, CachedSecret>();

  async function fetchVersion(name: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<Version | undefined> {
    try {
      const answer = await client.send(new GetSecretValueCommand({ SecretId: prefix + name, VersionStage: stage }));
      return { value: asJson(prefix + name, answer.SecretString), createdAt: answer.CreatedDate?.getTime() ?? 0 };
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  }

  function version(name: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<Version | undefined> {
    let entry = cache.get(name);
    if (!entry || clock() >= entry.validUntil) {
      entry = { readAt: clock(), validUntil: Number.POSITIVE_INFINITY, versions: new Map() };
      cache.set(name, entry);
    }
    let read = entry.versions.get(stage);
    if (!read) {
      read = fetchVersion(name, stage);
      entry.versions.set(stage, read);
      read.catch(() => noteFailure(name));
    }
    return read;
  }

  /** Schedules a new read soon, but not for every request in the meantime. */
  function noteFailure(name: string): void {
    const entry = cache.get(name);
    if (entry) entry.validUntil = Math.min(entry.validUntil, clock() + FAILURE_REMEMBERED_MS);
  }

  function checked<T>(name: string, schema: z.core.$ZodType<T>, value: unknown): T {
    const parsed = z.safeParse(schema, value);
    if (parsed.success) return parsed.data;
    noteFailure(name);
    const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole');
    throw new SecretError(
      `the secret ${prefix}${name} has missing or invalid fields: ${fields.join(', ')}; enter it again with npx partner-relay secrets set ${name}`,
    );
  }

  async function currentVersion(name: string): Promise<Version> {
    const current = await version(name, 'AWSCURRENT');
    if (current) return current;
    noteFailure(name);
    throw new SecretError(
      `the secret ${prefix}${name} does not exist or has no value yet; enter it with npx partner-relay secrets set ${name}`,
    );
  }

  const secrets: Secrets & SecretTimes = {
    current: async (name, schema) => checked(name, schema, (await currentVersion(name)).value),
    createdAt: async (name) => (await currentVersion(name)).createdAt,
    async *accepted(name, schema) {
      yield await secrets.current(name, schema);
      if (clock() - (await secrets.createdAt(name)) > PREVIOUS_VALID_MS) return;
      const before = await version(name, 'AWSPREVIOUS').catch((error) => {
        // A malformed previous secret counts as missing.
        if (error instanceof SecretError) return undefined;
        throw error;
      });
      const previous = z.safeParse(schema, before?.value);
      if (previous.success) yield previous.data;
    },
    prepare: (name) => void version(name, 'AWSCURRENT').catch(() => {}),
    refresh(name, atMostEveryMs = REFRESH_AT_MOST_EVERY_MS) {
      const entry = cache.get(name);
      if (!entry || clock() - entry.readAt < atMostEveryMs) return false;
      entry.validUntil = clock();
      return true;
    },
  };
  return secrets;
}

/**
 * True if any currently accepted secret passes the check. If none does, reads the secret again, because it may have
 * been rotated.
 */
export async function isAcceptedBySecret<T>(
  secrets: Secrets,
  name: string,
  schema: z.core.$ZodType<T>,
  passes: (secret: T) => boolean,
): Promise<boolean> {
  const anyPasses = async () => {
    for await (const secret of secrets.accepted(name, schema)) if (passes(secret)) return true;
    return false;
  };
  return (await anyPasses()) || (secrets.refresh(name) && (await anyPasses()));
}

function asJson(name: string, text: string | undefined): unknown {
  if (!text?.trim())
    throw new SecretError(`the secret ${name} is empty; enter it again with npx partner-relay secrets set`);
  try {
    return JSON.parse(text);
  } catch {
    throw new SecretError(`the secret ${name} is not JSON; enter it again with npx partner-relay secrets set`);
  }
}
