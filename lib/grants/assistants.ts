import { type Assistant, type AssistantOptions, openAssistant } from './assistant.ts';
import { createKnownTools, type KnownTools } from './known-tools.ts';
import type { Sessions } from './tool-calls.ts';

/** The MCP endpoints of all connections, as the runs of one process use them. */
export interface Assistants {
  knownTools: KnownTools;
  /** @throws {SecretError | BaseUrlError} for a connection whose secret cannot be used */
  open(run: Pick<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil'>): Promise<Assistant>;
}

export function createAssistants(
  options: Omit<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil' | 'sessions'>,
): Assistants {
  const sessions: Sessions = new Map();
  return {
    knownTools: createKnownTools(options.clock),
    open: (run) => openAssistant({ ...options, ...run, sessions }),
  };
}
