import { type Assistant, type AssistantOptions, openAssistant } from './assistant.ts';
import { createKnownTools, type KnownTools } from './known-tools.ts';
import type { Sessions } from './tool-calls.ts';
import { createVault, type Vault } from './vault.ts';

/** The MCP endpoints of all connections, as the runs of one process use them. */
export interface Assistants {
  knownTools: KnownTools;
  /** Seals with the key that grants are sealed with. */
  vault: Vault;
  /** @throws {SecretError | BaseUrlError} if the connection's secret cannot be used */
  open(run: Pick<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil'>): Promise<Assistant>;
}

/** @param mapped the tools that commands of a connection use */
export function createAssistants(
  mapped: (connection: string) => readonly string[],
  options: Omit<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil' | 'sessions'>,
): Assistants {
  const sessions: Sessions = new Map();
  return {
    knownTools: createKnownTools(options.clock, mapped),
    vault: createVault(options.secrets, options.randomBytes),
    open: (run) => openAssistant({ ...options, ...run, sessions }),
  };
}
