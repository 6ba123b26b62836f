import { inspect } from 'node:util';
import type { CommandTools, MappedCommand } from '../lib/config/mcp.ts';
import type { Assistant } from '../lib/grants/assistant.ts';
import type { Holder } from '../lib/grants/grant.ts';
import { schemaHash } from '../lib/mcp/schema-hash.ts';
import type { Tool } from '../lib/mcp/tool.ts';
import { oneLine } from '../local/terminal.ts';
import { marked, type ProposedUse, proposeFor, proposeListing, shapeOf } from './mcp-proposal.ts';

const COMMANDS: readonly MappedCommand[] = ['log', 'done', 'undo', 'defect', 'find'];
/** What the text of a row is called, in which the marker is, or which people read. */
const TEXT_NAMES: Readonly<Partial<Record<MappedCommand, readonly string[]>>> = {
  log: ['comment', 'note', 'notes', 'description', 'text'],
  defect: ['description', 'body', 'details', 'text'],
  find: ['title', 'name', 'summary'],
};

/** What `relay mcp doctor` found out. */
export interface McpDiagnosis {
  tools: readonly Tool[];
  unusable: readonly { name: string; why: string }[];
  /** What is wrong with the mapping in relay.config.ts. */
  faults: readonly string[];
  /** `connections.<name>.mcp.commands` */
  proposal: Readonly<Record<string, unknown>>;
  /** Commands for which nothing is proposed. */
  without: readonly MappedCommand[];
}

/** Lists the tools, checks those that are mapped, and proposes a mapping. It calls tools that only read, once each. */
export async function diagnoseMcp(
  { tools: calls }: Pick<Assistant, 'tools'>,
  holder: Holder,
  mapped: CommandTools,
): Promise<McpDiagnosis> {
  const { tools, unusable } = await calls.list(holder);

  async function shape(command: MappedCommand, { tool }: ProposedUse, args: object) {
    try {
      return shapeOf(await calls.call(holder, 'repeatable', tool, args), TEXT_NAMES[command] ?? []);
    } catch {
      // A proposal is worth having without it; the error is that of a tool which nothing is mapped to yet.
      return undefined;
    }
  }

  async function propose(command: MappedCommand): Promise<object | undefined> {
    const use = proposeFor(command, tools);
    if (!use) return undefined;
    if (command === 'find') return { ...use, ...(await shape(command, use, {})) };
    const listing = proposeListing(command, tools);
    const withMarker = listing && marked(use);
    if (!withMarker) return use;
    const found = await shape(command, listing, {});
    return found ? { ...withMarker, lookUp: { ...listing, ...found } } : use;
  }

  const proposal: Record<string, unknown> = {};
  for (const command of COMMANDS) {
    const proposed = await propose(command);
    if (proposed) proposal[command] = proposed;
  }
  const without = COMMANDS.filter((command) => !(command in proposal));
  return { tools, unusable, faults: faultsOf(mapped, tools), proposal, without };
}

/** What would keep a mapped tool from being called. */
function faultsOf(mapped: CommandTools, tools: readonly Tool[]): string[] {
  const uses = COMMANDS.flatMap((command) => {
    const use = mapped[command];
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

/** The diagnosis as text. @param connection the name that the piece of configuration is for */
export function diagnosisLines(diagnosis: McpDiagnosis, connection: string): string[] {
  const { tools, unusable, faults, proposal, without } = diagnosis;
  return [
    ...tools.flatMap(toolLines),
    ...unusable.map(({ name, why }) => `${oneLine(name)}\n    cannot be used: ${oneLine(why)}`),
    '',
    ...(faults.length > 0 ? ['relay.config.ts:', ...faults.map((fault) => `  ✗ ${fault}`), ''] : []),
    ...(without.length > 0 ? [`No tool looks like what serves ${without.join(', ')}.`, ''] : []),
    'A proposal for relay.config.ts, by the names of tools and arguments. Check it before you paste it:',
    '',
    inspect({ connections: { [connection]: { mcp: { link: 'offered', commands: proposal } } } }, { depth: 12 }),
  ];
}

function toolLines(tool: Tool): string[] {
  const { name, description, title, hints, scopes, inputSchema } = tool;
  const kind = hints.readOnly ? 'reads' : hints.destructive ? 'may destroy' : hints.idempotent ? 'changes' : 'creates';
  const needs = scopes.length > 0 ? `needs ${scopes.join(', ')}` : 'needs a scope that the service does not tell';
  return [
    `${oneLine(name)}  (${kind}; ${needs})`,
    `    ${oneLine(description || title || '')}`,
    `    schema ${schemaHash(tool)}: ${oneLine(JSON.stringify(inputSchema))}`,
  ];
}
