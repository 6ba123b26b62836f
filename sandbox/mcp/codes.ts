import { randomBytes } from 'node:crypto';

/** What a person approved, from the consent until the exchange of the authorization code. */
export interface Approval {
  grant_id: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  resource: string;
}

interface Issued extends Approval {
  expiresAt: number;
  used: boolean;
}

/** The lifetime of a code is not shown. OAuth 2.1 recommends ten minutes at most. */
const codeMs = 60_000;

/** The authorization codes. They are in memory only, so a restart between consent and exchange loses them. */
export class Codes {
  readonly #codes = new Map<string, Issued>();

  issue(approval: Approval, nowMs: number): string {
    for (const [old, { expiresAt }] of this.#codes) {
      // Codes are kept longer than they are valid, so that a second use is still recognised.
      if (nowMs - expiresAt > 10 * codeMs) this.#codes.delete(old);
    }
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, { ...approval, expiresAt: nowMs + codeMs, used: false });
    return code;
  }

  find(code: string | null): Readonly<Issued> | undefined {
    return code === null ? undefined : this.#codes.get(code);
  }

  use(code: string): void {
    const issued = this.#codes.get(code);
    if (issued) issued.used = true;
  }
}
