/** The path of the MCP endpoint below the base URL (docs/partner-api.md#mcp-endpoint). */
const MCP_PATH = '/mcp/partner';

/** @param instance the base URL, without a slash at its end */
export const mcpEndpoint = (instance: string): string => instance + MCP_PATH;

/**
 * The name of the budget that all callers of an instance share: its limits are counted per calling address
 * (docs/partner-api.md#limits), whatever the connection or the person.
 */
export const mcpBudgetName = (endpoint: string): string => `mcp:${new URL(endpoint).host}`;
