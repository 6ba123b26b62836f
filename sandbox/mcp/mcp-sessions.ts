import { randomUUID } from 'node:crypto';
import type { Caller } from './request.ts';

const mostSessions = 10_000;

/** The sessions. They are in memory only: a restart ends them, as a real service may at any time. */
export class McpSessions {
  readonly #callers = new Map<string, Caller>();

  begin(caller: Caller): string {
    const id = randomUUID();
    this.#callers.set(id, caller);
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > mostSessions) this.end(oldest);
    return id;
  }

  /** Whether the session exists and belongs to this person and client. */
  has(id: string, { user_id, client }: Caller): boolean {
    const caller = this.#callers.get(id);
    return caller?.user_id === user_id && caller.client === client;
  }

  end(id: string | undefined): void {
    this.#callers.delete(id ?? '');
  }

  endAll(): void {
    this.#callers.clear();
  }
}
