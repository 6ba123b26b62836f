import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';

/** A secret that cannot be used. Says which, and which field is missing or wrong; never a value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/** The `partner/<connection>` secrets. */
export const partnerSecret = z.object({
  /** Scheme and host of the instance. */
  baseUrl: z.string().min(1),
  apiKey: z.string().regex(/^[\x21-\x7e]+$/),
  secretKey: z.string().min(1),
});

/** The `github` secret. */
export const githubSecret = z.object({
  webhookSecret: z.string().min(1),
  /** Replies go out by an App's installation or by a token; without either they are skipped. */
  appId: z.coerce.string().optional(),
  privateKey: z.string().min(1).optional(),
  token: z.string().min(1).optional(),
});
export type GithubSecret = z.output<typeof githubSecret>;

/** Secrets Manager, remembered in memory. */
export interface Secrets {
  /** @throws {SecretError} for a secret that is missing, empty or malformed */
  current<T>(name: string, schema: z.ZodType<T>): Promise<T>;
  /** The current one, and for {@link PREVIOUS_VALID_MS} after a rotation the one before it. */
  accepted<T>(name: string, schema: z.ZodType<T>): Promise<T[]>;
  /**
   * Has the secret read again at its next use, because it seems to be out of date.
   * @returns false where it was read less than a minute ago, so that forged signatures cannot make us read it at will
   */
  refresh(name: string): boolean;
}

/** For how long the secret before a rotation is still accepted from outside. */
export const PREVIOUS_VALID_MS = 24 * 3_600_000;
const REFRESH_AT_MOST_EVERY_MS = 60_000;

interface Version {
  value: unknown;
  createdAt: number;
}

export function createSecrets(client: SecretsManagerClient, prefix: string, clock: () => number): Secrets {
  const cache = new Map<
    string,
    { readAt: number; stale: boolean; versions: Map<string, Promise<Version | undefined>> }
  >();

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
    if (!entry || entry.stale) {
      entry = { readAt: clock(), stale: false, versions: new Map() };
      cache.set(name, entry);
    }
    let read = entry.versions.get(stage);
    if (!read) {
      read = fetchVersion(name, stage);
      entry.versions.set(stage, read);
      // What failed once is asked for again.
      read.catch(() => cache.delete(name));
    }
    return read;
  }

  function checked<T>(name: string, schema: z.ZodType<T>, value: unknown): T {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'the whole');
    throw new SecretError(
      `the secret ${prefix}${name} lacks or has a wrong ${fields.join(', ')}; enter it and try again`,
    );
  }

  const secrets: Secrets = {
    async current(name, schema) {
      const current = await version(name, 'AWSCURRENT');
      if (!current) throw new SecretError(`the secret ${prefix}${name} does not exist or has no value yet`);
      return checked(name, schema, current.value);
    },
    async accepted(name, schema) {
      const newest = await secrets.current(name, schema);
      const current = await version(name, 'AWSCURRENT');
      if (clock() - (current?.createdAt ?? 0) > PREVIOUS_VALID_MS) return [newest];
      const previous = await version(name, 'AWSPREVIOUS');
      const parsed = schema.safeParse(previous?.value);
      return parsed.success ? [newest, parsed.data] : [newest];
    },
    refresh(name) {
      const entry = cache.get(name);
      if (!entry || clock() - entry.readAt < REFRESH_AT_MOST_EVERY_MS) return false;
      entry.stale = true;
      return true;
    },
  };
  return secrets;
}

function asJson(name: string, text: string | undefined): unknown {
  if (!text?.trim()) throw new SecretError(`the secret ${name} is empty`);
  try {
    return JSON.parse(text);
  } catch {
    throw new SecretError(`the secret ${name} is not JSON`);
  }
}
