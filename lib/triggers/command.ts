import * as z from 'zod/mini';
import { inputOf, type Trigger } from './trigger.ts';

type Name<P extends string> = P extends `${infer N}…` ? N : P;
type Required<U extends string> = U extends `${string}<${infer P}>${infer Rest}` ? Name<P> | Required<Rest> : never;
type Optional<U extends string> = U extends `${string}[${infer P}]${infer Rest}` ? Name<P> | Optional<Rest> : never;

/** The parameters of a usage text: `block <task> [reason…]` has `task` and perhaps `reason`. All are texts. */
export type Parameters<Usage extends string> = { [P in Required<Usage>]: string } & { [P in Optional<Usage>]?: string };

export interface CommandTrigger<Input = unknown> extends Trigger<'command', Input> {
  usage: string;
  does: string;
  example: string;
  permission: string | undefined;
  inComments: boolean;
}

export interface CommandOptions {
  /** What the command does, for the help: `says in the channel of the platform that a task is blocked`. */
  does: string;
  /** A complete command, for the help. */
  example: string;
  /**
   * The entry of `slack.permissions` that restricts the command. Without it, or without that entry, everyone may use
   * it.
   */
  permission?: string;
  /** `true` to accept the command in comments on GitHub, too, from people with at least triage permission. */
  inComments?: boolean;
}

/**
 * Takes a command of Slack: `/pm block 4711 waits for the certificate`. Its parameters are the texts that people type;
 * the step `task` finds the task for one.
 *
 * @param usage the verb and its parameters: `<required>` or `[optional]`; with `…`, the last one takes the rest of the
 *   text
 */
export const command = <const Usage extends string>(
  usage: Usage,
  { does, example, permission, inComments = false }: CommandOptions,
): CommandTrigger<Parameters<Usage>> => ({
  kind: 'command',
  usage,
  does,
  example,
  permission,
  inComments,
  input: inputOf(
    Object.fromEntries(
      parametersOf(usage).map(({ name, isOptional }) => [name, isOptional ? z.optional(z.string()) : z.string()]),
    ),
  ) as z.ZodMiniType<Parameters<Usage>>,
});

export interface Parameter {
  name: string;
  isOptional: boolean;
  /** True if it takes the rest of the text. */
  isRest: boolean;
}

/**
 * Matches a usage text. Its verb is one word of lowercase letters, so that it reads the same in Slack, in comments and
 * in the help.
 */
const USAGE = /^[a-z][a-z-]{0,30}(?: (?:<[a-z][a-zA-Z]*…?>|\[[a-z][a-zA-Z]*…?\]))*$/;

/** @returns why the command cannot be typed, or undefined */
export function usageFault(usage: string): string | undefined {
  if (!USAGE.test(usage)) {
    return `the usage '${usage}' cannot be read: write the verb in letters a to z, and then <required> and [optional] parameters, such as 'block <task> [reason…]'`;
  }
  const parameters = parametersOf(usage);
  const names = parameters.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `the usage '${usage}' names the parameter ${repeated} twice`;
  const inherited = names.find((name) => name in {});
  if (inherited !== undefined) return `every object of JavaScript has ${inherited}; give that parameter another name`;
  if (parameters.some(({ isRest }, index) => isRest && index < parameters.length - 1)) {
    return `the usage '${usage}' has a parameter with … that is not the last; only the last can take the rest`;
  }
  if (parameters.some(({ isOptional }, index) => !isOptional && parameters[index - 1]?.isOptional)) {
    return `the usage '${usage}' has a required parameter after an optional one; write the required ones first`;
  }
  return undefined;
}

export const verbIn = (usage: string): string => usage.split(' ', 1)[0] ?? '';

export function parametersOf(usage: string): Parameter[] {
  return [...usage.matchAll(/<([^>…]+)(…?)>|\[([^\]…]+)(…?)\]/g)].map(([, required, rest, optional, restToo]) => ({
    name: required ?? optional ?? '',
    isOptional: required === undefined,
    isRest: (rest ?? restToo) === '…',
  }));
}
