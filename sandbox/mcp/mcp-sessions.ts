import { randomUUID } from 'node:crypto';
import type { Caller } from './caller.ts';
import type { Revision } from './revisions.ts';

export interface McpSession {
  id: string;
  user_id: string;
  client: string;
  revision: Revision;
  /** The events of each stream, for a client that resumes it. */
  streams: Map<string, readonly string[]>;
}

const mostSessions = 10_000;
const mostStreams = 100;

/** In memory only: a restart ends every session, as a real service may at any time. */
export class McpSessions {
  readonly #sessions = new Map<string, McpSession>();

  begin({ user_id, client }: Caller, revision: Revision): McpSession {
    const session = { id: randomUUID(), user_id, client, revision, streams: new Map() };
    this.#sessions.set(session.id, session);
    dropOldest(this.#sessions, mostSessions);
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

/** Keeps the events of a stream, each with an id by which the client can ask for what follows it. */
export function keepStream(session: McpSession, messages: readonly (object | null)[]): string[] {
  const stream = randomUUID();
  const events = messages.map((message, index) => {
    const data = message === null ? '' : JSON.stringify(message);
    return `id: ${stream}_${index}\ndata: ${data}\n\n`;
  });
  session.streams.set(stream, events);
  dropOldest(session.streams, mostStreams);
  return events;
}

/** What follows an event; undefined when its stream is unknown. */
export function eventsAfter({ streams }: McpSession, eventId: string): readonly string[] | undefined {
  const [stream = '', index = ''] = eventId.split('_');
  return streams.get(stream)?.slice(Number(index) + 1);
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
