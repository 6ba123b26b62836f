import type { Tool, ToolList } from '../protocol/tool.ts';
import { type AssistantOptions, openAssistant } from './assistant.ts';
import type { Sessions } from './tool-calls.ts';
import { createVault } from './vault.ts';

export type Assistants = ReturnType<typeof createAssistants>;

/**
 * The MCP endpoints of all connections, as the runs of one process use them.
 *
 * @param mapped the tools that commands of a connection use
 */
export function createAssistants(
  mapped: (connection: string) => readonly string[],
  options: Omit<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil' | 'sessions'>,
) {
  const sessions: Sessions = new Map();
  return {
    knownTools: createKnownTools(options.clock, mapped),
    /** Seals with the key that grants are sealed with. */
    vault: createVault(options.secrets, options.randomBytes),
    /** @throws {SecretError | BaseUrlError} if the connection's secret cannot be used */
    open: (run: Pick<AssistantOptions, 'connection' | 'limits' | 'lane' | 'waitUntil'>) =>
      openAssistant({ ...options, ...run, sessions }),
  };
}

/** A changed tool is noticed after this time at the latest. */
const FRESH_MS = 5 * 60_000;

/**
 * The tools that were asked for, as this process last saw them. Their schemas are the same for every person.
 *
 * @param mapped the tools that commands of a connection use: one list serves all of them
 */
function createKnownTools(clock: () => number, mapped: (connection: string) => readonly string[]) {
  const known = new Map<string, { tool: Tool; readAt: number }>();
  const keyOf = (connection: string, name: string) => JSON.stringify([connection, name]);
  return {
    /**
     * @param list reads these tools; called if the tool is unknown, or is not the expected one
     * @returns undefined if the instance does not list it
     */
    async find(
      connection: string,
      name: string,
      list: (only: readonly string[]) => Promise<ToolList>,
      isExpected: (tool: Tool) => boolean,
    ) {
      const now = clock();
      for (const [key, { readAt }] of known) if (now - readAt >= FRESH_MS) known.delete(key);
      const before = known.get(keyOf(connection, name));
      if (before && isExpected(before.tool)) return before.tool;
      const { tools } = await list([...new Set([...mapped(connection), name])]);
      for (const tool of tools) known.set(keyOf(connection, tool.name), { tool, readAt: now });
      return tools.find((tool) => tool.name === name);
    },
  };
}
