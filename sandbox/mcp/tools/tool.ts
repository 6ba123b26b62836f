import type { Actor } from './actor.ts';
import { faultOf, type Schema, type ValueOf } from './schema.ts';

type Schemas = Readonly<Record<string, Schema>>;
type Values<R extends Schemas, O extends Schemas> = { [K in keyof R]: ValueOf<R[K]> } & {
  [K in keyof O]?: ValueOf<O[K]>;
};

export type Arguments = Readonly<Record<string, unknown>>;

interface Described {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Which tool needs which scope is assumed, from docs/partner-api.md#mcp-scopes. */
  readonly scope: string;
  readonly kind: 'reads' | 'creates' | 'changes' | 'destroys';
}

/** "Names and argument shapes of the MCP tools: not shown." All that stands in this folder is the sandbox's invention. */
interface Declaration<R extends Schemas, O extends Schemas> extends Described {
  required: R;
  optional: O;
  /** Throws a Refusal when the records do not allow it. */
  run(args: Values<R, O>, actor: Actor): object;
}

export interface Tool extends Described {
  readonly required: Schemas;
  readonly optional: Schemas;
  /** What is wrong, by argument; empty when they can be run. */
  faults(args: Arguments): Record<string, string>;
  run(args: Arguments, actor: Actor): object;
}

export function tool<const R extends Schemas, const O extends Schemas>(declared: Declaration<R, O>): Tool {
  const { required, optional } = declared;
  return {
    ...declared,
    faults(args) {
      const faults = Object.entries<Schema>({ ...required, ...optional }).flatMap(([name, schema]) => {
        const value = args[name];
        const missing = name in required ? 'is required' : undefined;
        const fault = value === undefined ? missing : faultOf(schema, value);
        return fault === undefined ? [] : [[name, fault]];
      });
      return Object.fromEntries(faults);
    },
    // `faults` has shown that the arguments have these types; the declaration cannot say so to the compiler.
    run: (args, actor) => declared.run(args as Values<R, O>, actor),
  };
}
