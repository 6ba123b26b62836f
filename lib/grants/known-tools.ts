import type { Tool, ToolList } from '../mcp/tool.ts';

/** The tools of all instances as this process last saw them. Whose list they were in does not matter for their schemas. */
export interface KnownTools {
  /**
   * @param list reads the list where the tool is not known, or not known to be unchanged
   * @returns undefined where that list does not have it
   */
  find(
    connection: string,
    name: string,
    list: () => Promise<ToolList>,
    isExpected: (tool: Tool) => boolean,
  ): Promise<Tool | undefined>;
}

/** A tool that changed is noticed after so long at the latest. */
const FRESH_MS = 5 * 60_000;

export function createKnownTools(clock: () => number): KnownTools {
  const known = new Map<string, { tool: Tool; readAt: number }>();
  const keyOf = (connection: string, name: string) => JSON.stringify([connection, name]);
  return {
    async find(connection, name, list, isExpected) {
      const before = known.get(keyOf(connection, name));
      if (before && clock() - before.readAt < FRESH_MS && isExpected(before.tool)) return before.tool;
      const readAt = clock();
      const { tools } = await list();
      for (const tool of tools) known.set(keyOf(connection, tool.name), { tool, readAt });
      return tools.find((tool) => tool.name === name);
    },
  };
}
