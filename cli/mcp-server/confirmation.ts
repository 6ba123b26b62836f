import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';

/** What the client asks a person before something is done. */
export interface Question {
  /** What is known, and what will happen. */
  lines: readonly string[];
  /** A text that the person types. */
  asks?: { label: string; hint: string } | undefined;
  /** A command that decides without an assistant, or shows how. */
  command: string;
}

/** @returns what the person typed @throws {Error} if the client cannot ask, or if the person does not confirm */
export type Confirm = (question: Question, context: ServerContext) => Promise<string>;

/** A person reads before confirming. */
const TIMEOUT_MS = 10 * 60_000;

const filled = z.object({ confirm: z.literal(true), answer: z.string().trim().min(1).max(1_000).default('') });

/** Asks the person at the client. An argument from the model is not a confirmation. */
export function createConfirm({ server }: McpServer): Confirm {
  return async ({ lines, asks, command }, { mcpReq: { signal, elicitInput } }) => {
    if (!server.getClientCapabilities()?.elicitation?.form)
      throw new Error(
        `nothing was changed: a person has to confirm this, and this client cannot show a form (elicitation). They can decide in the console, or run npx partner-relay ${command}`,
      );
    // No defaults, because a client that fills them in must not confirm for the person.
    const confirm = { type: 'boolean', title: 'Yes, do this' } as const;
    const answer = asks && { type: 'string' as const, title: asks.label, description: asks.hint };
    const properties = { ...(answer && { answer }), confirm };
    const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) };
    const options = { timeout: TIMEOUT_MS, signal };
    const { action, content } = await elicitInput({ message: lines.join('\n'), requestedSchema }, options);
    const { data } = filled.safeParse(content);
    if (action === 'accept' && data && !signal.aborted) return data.answer;
    throw new Error(`nothing was changed: the person did not confirm it, or left a field empty (${action})`);
  };
}
