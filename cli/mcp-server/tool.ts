import type { McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { awsFault } from '../../console/aws-faults.ts';
import type { OperatedRelay } from '../../console/relay.ts';
import { messageOf } from '../../lib/text.ts';
import { printable } from '../../local/terminal.ts';
import { awsErrorInWords } from '../aws-errors.ts';
import { answerWith } from './answer.ts';

/** A tool that an assistant may call. */
interface AssistantTool<Input> {
  name: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Input>;
  /** Undefined for a tool that only reads. */
  changes?: 'what waits' | 'for good';
  /** @throws {Error} in words for the operator */
  run(input: Input, relay: OperatedRelay, context: ServerContext): Promise<object>;
}

export type AddTool = <Input>(tool: AssistantTool<Input>) => void;

/** Adds tools, and marks their answers and errors as data. @param open opens the relay as it is at each call */
export function addTo(server: McpServer, open: () => Promise<OperatedRelay>): AddTool {
  return ({ name, description, input: inputSchema, changes, run }) => {
    const annotations = { readOnlyHint: !changes, destructiveHint: changes === 'for good', openWorldHint: !!changes };
    server.registerTool(name, { description, inputSchema, annotations }, async (input, context) => {
      try {
        return answerWith(await run(input, await open(), context));
      } catch (thrown) {
        const message = messageOf(thrown);
        const error = awsErrorInWords(thrown) ?? awsFault(thrown)?.message ?? message;
        console.error(printable(`relay: ${name}: ${error}`));
        return { ...answerWith({ error }), isError: true };
      }
    });
  };
}
