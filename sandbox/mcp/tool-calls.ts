import type { Store } from '../store.ts';
import { isObject, type Message, RpcError } from './json-rpc.ts';
import { codes } from './mcp-refusal.ts';
import type { Caller } from './request.ts';
import { Actor } from './tools/actor.ts';
import type { Toolbox } from './tools/toolbox.ts';

/** A tool call, with its caller and arguments. */
export interface ToolCall {
  time: string;
  user_id: string;
  workspace_id: string;
  client: string;
  tool: unknown;
  arguments: unknown;
  outcome: 'done' | 'failed' | 'refused';
}

/** Handles the protocol's methods that the endpoint knows. */
export class ToolCalls {
  readonly all: ToolCall[] = [];
  readonly #store: Store;
  readonly #toolbox: Toolbox;

  constructor(store: Store, toolbox: Toolbox) {
    this.#store = store;
    this.#toolbox = toolbox;
  }

  run(caller: Caller, message: Message, nowMs: number): object {
    switch (message.method) {
      case 'ping':
        return {};
      case 'tools/list':
        return this.#toolbox.list(message.params.cursor);
      case 'tools/call':
        return this.#call(caller, message, nowMs);
      default:
        throw new RpcError(codes.methodNotFound, `There is no method ${message.method}`);
    }
  }

  #call(caller: Caller, { id = null, params }: Message, nowMs: number): object {
    const entry: ToolCall = {
      time: new Date(nowMs).toISOString(),
      user_id: caller.user_id,
      workspace_id: caller.workspace.workspace_id,
      client: caller.client,
      tool: params.name,
      arguments: params.arguments,
      outcome: 'refused',
    };
    this.all.push(entry);
    const actor = new Actor(caller, this.#store, nowMs);
    const result = this.#toolbox.call(actor, id, params);
    entry.outcome = isObject(result) && result.isError === true ? 'failed' : 'done';
    return result;
  }
}
