import type { Holder } from '../lib/as-person/grants/grant.ts';
import type { McpEndpoint } from '../lib/as-person/grants/mcp-endpoint.ts';
import { schemaHash, type Tool, type ToolList } from '../lib/as-person/protocol/tool.ts';
import type { CommandTools } from '../lib/config/mcp.ts';
import { oneLine } from '../local/terminal.ts';

/** The tools of an account, and the faults of the mapping in relay.config.ts. */
export interface McpDiagnosis extends ToolList {
  faults: readonly string[];
}

/** Lists the tools, and checks those that are mapped. It calls no tool. */
export async function diagnoseMcp(
  { tools: calls }: Pick<McpEndpoint, 'tools'>,
  holder: Holder,
  mapped: CommandTools,
): Promise<McpDiagnosis> {
  const list = await calls.list(holder);
  return { ...list, faults: faultsOf(mapped, list.tools) };
}

/** What would prevent calls of the mapped tools. */
function faultsOf(mapped: CommandTools, tools: readonly Tool[]): string[] {
  const uses = Object.entries(mapped).flatMap(([command, use]) => {
    const lookUp = use && 'lookUp' in use ? use.lookUp : undefined;
    return [
      ...(use ? [{ where: command, ...use }] : []),
      ...(lookUp ? [{ where: `${command}.lookUp`, ...lookUp }] : []),
    ];
  });
  return uses.flatMap(({ where, tool: name, schema }) => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) return [`${where}: the service lists no tool ${oneLine(name)} for this account`];
    const hash = schemaHash(tool);
    if (hash === schema) return [];
    return [`${where}: ${oneLine(name)} has changed; check its arguments, and set its schema to '${hash}'`];
  });
}

export function diagnosisLines({ tools, unusable, faults }: McpDiagnosis): string[] {
  return [
    ...tools.flatMap(toolLines),
    ...unusable.map(({ name, why }) => `${oneLine(name)}\n    cannot be used: ${oneLine(why)}`),
    ...(faults.length > 0 ? ['', 'relay.config.ts:', ...faults.map((fault) => `  ✗ ${fault}`)] : []),
  ];
}

/** What a call of the tool does, according to the service's hints. */
function kindOf({ hints }: Tool): string {
  if (hints.readOnly) return 'reads';
  if (hints.destructive) return 'may destroy';
  return hints.idempotent ? 'changes' : 'creates';
}

function toolLines(tool: Tool): string[] {
  const { name, description, title, scopes, inputSchema } = tool;
  const needs = scopes.length > 0 ? `needs ${scopes.join(', ')}` : 'needs a scope that the service does not name';
  return [
    `${oneLine(name)}  (${kindOf(tool)}; ${needs})`,
    `    ${oneLine(description || title || '')}`,
    `    schema ${schemaHash(tool)}: ${oneLine(JSON.stringify(inputSchema))}`,
  ];
}
