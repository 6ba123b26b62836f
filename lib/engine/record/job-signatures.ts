import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RelayConfig } from '../../config/schema.ts';
import { canonicalJson } from '../../digest.ts';
import { intakeSecret, isAcceptedBySecret, type Secrets } from '../../state/secrets/secrets.ts';
import { LIFETIME_MS } from '../../state/table/expiry.ts';
import type { JobDraft } from './job.ts';

const SECRET = 'intake';

/**
 * Signs what people ask for. A worker uses a person's account only for a job that intake has signed, because more roles
 * may write a job than may act as a person. Only intake and the worker can read the key.
 */
export type JobSignatures = ReturnType<typeof createJobSignatures>;

export function createJobSignatures(
  secrets: Secrets,
  { connections }: Pick<RelayConfig, 'connections'>,
  clock: () => number,
) {
  return {
    /**
     * Signs a job that may act through its person's account, and adds the time when they asked. Returns other jobs
     * unchanged.
     * @throws {SecretError}
     */
    async sign(draft: JobDraft): Promise<JobDraft> {
      const accounts = connections[draft.connection]?.mcp.accounts ?? 'off';
      if (!draft.asked?.by || accounts === 'off') return draft;
      const { key } = await secrets.current(SECRET, intakeSecret);
      const signed = { ...draft, asked: { at: clock(), ...draft.asked } };
      return { ...signed, signature: signatureOf(signed, key) };
    },
    /**
     * True if intake made the job exactly as it is, within the lifetime of a job's record. An older job may be a copy
     * of one that was already carried out and deleted.
     * @throws {SecretError}
     */
    async isSigned(job: JobDraft): Promise<boolean> {
      const { at } = job.asked ?? {};
      if (at === undefined || clock() - at > LIFETIME_MS) return false;
      const given = Buffer.from(job.signature ?? '');
      return isAcceptedBySecret(secrets, SECRET, intakeSecret, ({ key }) => {
        const expected = Buffer.from(signatureOf(job, key));
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
    },
  };
}

/** Covers what the job does, who it acts as, and who gets the answer. No operator's decision changes these. */
function signatureOf({ id, connection, automation, input, asked, replyTo }: JobDraft, key: string): string {
  return createHmac('sha256', key)
    .update(canonicalJson([id, connection, automation, input, asked, replyTo]))
    .digest('base64url');
}
