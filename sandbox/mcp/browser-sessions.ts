import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const cookieName = 'sandbox_sign_in';

/** Who is signed in, by browser. In memory only. */
export class BrowserSessions {
  readonly #users = new Map<string, string | null>();

  /** The session that the browser's cookie names, or a new one, in which no one is signed in. */
  of(headers: IncomingHttpHeaders): string {
    const named = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]+)`).exec(headers.cookie ?? '')?.[1];
    return named !== undefined && this.#users.has(named) ? named : this.#begin(null);
  }

  userOf(session: string): string | null {
    return this.#users.get(session) ?? null;
  }

  /** Ends the session and begins another, so that a session from before the sign-in is worth nothing after it. */
  renew(session: string, user_id: string | null): string {
    this.#users.delete(session);
    return this.#begin(user_id);
  }

  cookie(session: string, path: string): string {
    return `${cookieName}=${session}; Path=${path}; HttpOnly; SameSite=Lax`;
  }

  #begin(user_id: string | null): string {
    const session = randomBytes(24).toString('base64url');
    this.#users.set(session, user_id);
    return session;
  }
}
