import { randomUUID } from 'node:crypto';
import type { Caller } from './admission.ts';
import type { Revision } from './revisions.ts';

export interface McpSession {
  id: string;
  user_id: string;
  client: string;
  revision: Revision;
}

const mostSessions = 10_000;

/** In memory only: a restart ends every session, as a real service may at any time. */
export class McpSessions {
  readonly #sessions = new Map<string, McpSession>();

  begin({ user_id, client }: Caller, revision: Revision): McpSession {
    const session = { id: randomUUID(), user_id, client, revision };
    this.#sessions.set(session.id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > mostSessions && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }

  /** Another person's session is as unknown as one that has ended. */
  find(id: string, { user_id, client }: Caller): McpSession | undefined {
    const session = this.#sessions.get(id);
    return session?.user_id === user_id && session.client === client ? session : undefined;
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }

  endAll(): void {
    this.#sessions.clear();
  }
}
