import { Refusal } from '../../refusal.ts';
import { isObject, RpcError } from '../json-rpc.ts';
import { codes, McpRefusal, type RequestId } from '../mcp-refusal.ts';
import type { Actor } from './actor.ts';
import { otherTools } from './other-tools.ts';
import type { Arguments, Tool } from './tool.ts';
import { tools } from './tools.ts';

/** Other names for tools, by our names. */
export type ToolNames = Readonly<Record<string, string>>;

export interface ToolboxOptions {
  names: ToolNames;
  pageSize: number;
  /** Whether `_meta` of each tool includes its scope. */
  tellsScopes: boolean;
}

/** The tools as clients see them. */
export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #tools: readonly Tool[];

  constructor(options: ToolboxOptions) {
    this.#options = options;
    this.#tools = [...tools, ...otherTools].map((tool) => ({ ...tool, name: options.names[tool.name] ?? tool.name }));
  }

  /** One page of tools/list. The cursor is the number of earlier tools. */
  list(cursor: unknown): object {
    const start = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isInteger(start) || start < 0 || start > this.#tools.length) {
      throw new RpcError(codes.invalidParams, 'The cursor is unknown');
    }
    const end = start + this.#options.pageSize;
    return {
      tools: this.#tools.slice(start, end).map((tool) => this.#described(tool)),
      ...(end < this.#tools.length ? { nextCursor: String(end) } : {}),
    };
  }

  /** tools/call. Assumed: if a call fails because of its arguments or the records, its result has isError. */
  call(actor: Actor, id: RequestId, params: Readonly<Record<string, unknown>>): object {
    const tool = this.#tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new RpcError(codes.invalidParams, 'The tool is unknown');
    if (!actor.caller.scopes.includes(tool.scope)) {
      // "The message names the missing scope", and the challenge has no `error`.
      throw new McpRefusal(403, `The tool ${tool.name} needs the scope ${tool.scope}`, { id });
    }
    const args: Arguments = isObject(params.arguments) ? params.arguments : {};
    const faults = tool.faults(args);
    if (faults.length > 0) return failed(faults.join('; '));
    try {
      const value = tool.run(args, actor);
      return {
        content: [{ type: 'text', text: JSON.stringify(value) }],
        structuredContent: value,
        isError: false,
      };
    } catch (error) {
      if (error instanceof Refusal) return failed(reasonOf(error));
      throw error;
    }
  }

  #described(tool: Tool): object {
    return {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: tool.inputSchema,
      annotations: annotationsOf(tool),
      ...(this.#options.tellsScopes ? { _meta: { scope: tool.scope } } : {}),
    };
  }
}

function annotationsOf({ title, kind }: Tool): object {
  return {
    title,
    readOnlyHint: kind === 'reads',
    destructiveHint: false,
    idempotentHint: kind !== 'creates',
    openWorldHint: false,
  };
}

function failed(text: string): object {
  return { content: [{ type: 'text', text }], isError: true };
}

function reasonOf({ message, errors }: Refusal): string {
  const details = Object.entries(errors ?? {}).map(([field, fault]) => `${field} ${fault}`);
  return details.length === 0 ? message : `${message}: ${details.join('; ')}`;
}
