import { Refusal } from '../../refusal.ts';
import { isObject, RpcError } from '../json-rpc.ts';
import { codes, McpRefusal, type RequestId } from '../mcp-refusal.ts';
import { has, type Revision } from '../revisions.ts';
import type { Actor } from './actor.ts';
import { checklists } from './checklists.ts';
import { defects } from './defects.ts';
import { people } from './people.ts';
import { projects } from './projects.ts';
import { tasks } from './tasks.ts';
import { timelogs } from './timelogs.ts';
import type { Arguments, Tool } from './tool.ts';

export const tools: readonly Tool[] = [...people, ...projects, ...tasks, ...timelogs, ...defects, ...checklists];

/** By tool: another name, and other names for its arguments. */
export type ToolRename = Readonly<Record<string, { name?: string; arguments?: Readonly<Record<string, string>> }>>;

export interface ToolboxOptions {
  rename: ToolRename;
  pageSize: number;
  /** Lists only what the caller's scopes allow, instead of everything. */
  listsPermittedOnly: boolean;
  /** Tells the scope of each tool in its `_meta`. */
  tellsScopes: boolean;
}

interface NamedTool {
  tool: Tool;
  name: string;
  /** Names of arguments on the wire by ours, and the other way round. */
  theirs: ReadonlyMap<string, string>;
  ours: ReadonlyMap<string, string>;
}

/** The tools as the clients see them. */
export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #tools: readonly NamedTool[];

  constructor(options: ToolboxOptions) {
    for (const [name, { arguments: renamed = {} }] of Object.entries(options.rename)) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name} to rename`);
      const unknown = Object.keys(renamed).find((argument) => !(argument in { ...tool.required, ...tool.optional }));
      if (unknown !== undefined) throw new Error(`the tool ${name} has no argument ${unknown} to rename`);
    }
    this.#options = options;
    this.#tools = tools.map((tool) => {
      const { name = tool.name, arguments: renamed = {} } = options.rename[tool.name] ?? {};
      const theirs = new Map(
        Object.keys({ ...tool.required, ...tool.optional }).map((own) => [own, renamed[own] ?? own]),
      );
      return { tool, name, theirs, ours: new Map([...theirs].map(([own, their]) => [their, own])) };
    });
  }

  /** One page of tools/list. The cursor is the number of tools before the page. */
  list(scopes: readonly string[] | null, revision: Revision, cursor: unknown): object {
    const { pageSize, listsPermittedOnly } = this.#options;
    const start = cursor === undefined ? 0 : Number(cursor);
    const listed = this.#tools.filter(({ tool }) => !listsPermittedOnly || permits(scopes, tool));
    if (!Number.isInteger(start) || start < 0 || start > listed.length) {
      throw new RpcError(codes.invalidParams, 'The cursor is unknown');
    }
    const end = start + pageSize;
    return {
      tools: listed.slice(start, end).map((named) => this.#described(named, revision)),
      ...(end < listed.length ? { nextCursor: String(end) } : {}),
    };
  }

  /** tools/call. That a call which fails for its arguments or the records has a result with isError is assumed. */
  call(actor: Actor, revision: Revision, id: RequestId, params: Readonly<Record<string, unknown>>): object {
    const named = this.#tools.find(({ name }) => name === params.name);
    if (named === undefined) throw new RpcError(codes.invalidParams, 'The tool is unknown');
    if (!permits(actor.caller.scopes, named.tool)) {
      // "The message names the missing scope", and the challenge has no `error`.
      throw new McpRefusal(403, `The tool ${named.name} needs the scope ${named.tool.scope}`, { id });
    }
    const given = isObject(params.arguments) ? params.arguments : {};
    const unknown = Object.keys(given).filter((name) => !named.ours.has(name));
    const args: Arguments = Object.fromEntries([...named.ours].map(([their, own]) => [own, given[their]]));
    const wrong = Object.entries(named.tool.faults(args)).map(([own, fault]) => `${named.theirs.get(own)} ${fault}`);
    const faults = [...unknown.map((name) => `${name} is unknown`), ...wrong];
    if (faults.length > 0) return failed(faults.join('; '));
    try {
      const value = named.tool.run(args, actor);
      return {
        content: [{ type: 'text', text: JSON.stringify(value) }],
        ...(has(revision, 'structuredContent') ? { structuredContent: value } : {}),
        isError: false,
      };
    } catch (error) {
      if (error instanceof Refusal) return failed(reasonOf(error));
      throw error;
    }
  }

  #described({ tool, name, theirs }: NamedTool, revision: Revision): object {
    const renamed = (own: string) => theirs.get(own) ?? own;
    const properties = Object.entries({ ...tool.required, ...tool.optional });
    return {
      name,
      ...(has(revision, 'titles') ? { title: tool.title } : {}),
      description: tool.description,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(properties.map(([own, schema]) => [renamed(own), schema])),
        required: Object.keys(tool.required).map(renamed),
        additionalProperties: false,
      },
      ...(has(revision, 'annotations') ? { annotations: annotationsOf(tool) } : {}),
      ...(this.#options.tellsScopes ? { _meta: { scope: tool.scope } } : {}),
    };
  }
}

function permits(scopes: readonly string[] | null, { scope }: Tool): boolean {
  return scopes === null || scope === null || scopes.includes(scope);
}

function annotationsOf({ title, kind }: Tool): object {
  return {
    title,
    readOnlyHint: kind === 'reads',
    destructiveHint: kind === 'destroys',
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
