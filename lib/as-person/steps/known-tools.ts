import type { Tool, ToolList } from '../protocol/tool.ts';

export type KnownTools = ReturnType<typeof createKnownTools>;

/** A changed tool is noticed after this time at the latest. */
const FRESH_MS = 5 * 60_000;

/**
 * Remembers the requested tools as this process last saw them. Their schemas are the same for every person.
 *
 * @param mapped the tools used by a connection's commands, so that one list serves all of them
 */
export function createKnownTools(clock: () => number, mapped: (connection: string) => readonly string[]) {
  const known = new Map<string, { tool: Tool; readAt: number }>();
  const keyOf = (connection: string, name: string) => JSON.stringify([connection, name]);
  return {
    /**
     * @param list reads the tools; called if the tool is unknown or unexpected
     * @returns undefined if the instance does not list the tool
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
