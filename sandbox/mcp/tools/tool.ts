import * as z from 'zod';
import type { Actor } from './actor.ts';

type Schemas = Readonly<Record<string, z.ZodType>>;
type Values<R extends Schemas, O extends Schemas> = { [K in keyof R]: z.output<R[K]> } & {
  [K in keyof O]?: z.output<O[K]>;
};

export type Arguments = Readonly<Record<string, unknown>>;

interface Described {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The scope that the tool needs; assumed, from docs/partner-api.md#mcp-scopes. */
  readonly scope: string;
  readonly kind: 'reads' | 'creates' | 'changes';
}

/** "Names and argument shapes of the MCP tools: not shown." So everything in this folder is invented. */
interface Declaration<R extends Schemas, O extends Schemas> extends Described {
  /** Default: none. */
  required?: R;
  optional?: O;
  /** @throws {Refusal} if the records do not allow it */
  run(args: Values<R, O>, actor: Actor): object;
}

export interface Tool extends Described {
  /** The JSON Schema of the arguments. */
  readonly inputSchema: object;
  /** What is wrong with the arguments: `hours must be a number`. Empty if they are valid. */
  faults(args: Arguments): string[];
  run(args: Arguments, actor: Actor): object;
}

type NoSchemas = Readonly<Record<never, never>>;

export function tool<const R extends Schemas = NoSchemas, const O extends Schemas = NoSchemas>(
  declared: Declaration<R, O>,
): Tool {
  const { required = {}, optional = {}, ...described } = declared;
  const input = z.strictObject({ ...required, ...z.object(optional).partial().shape });
  const { $schema, ...inputSchema } = z.toJSONSchema(input);
  return {
    ...described,
    inputSchema,
    faults: (args) => input.safeParse(args).error?.issues.flatMap((issue) => faultsOf(issue, args)) ?? [],
    // `faults` has checked the types of the arguments, but the declaration cannot express that to the compiler.
    run: (args, actor) => declared.run(args as Values<R, O>, actor),
  };
}

function faultsOf(issue: z.core.$ZodIssue, args: Arguments): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => `${name} is unknown`);
  const name = String(issue.path[0]);
  return [`${name} ${args[name] === undefined ? 'is required' : issue.message}`];
}
