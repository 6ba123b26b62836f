import type { ToolResult } from '../../../as-person/protocol/tool.ts';
import { onOneLine } from '../../../outside.ts';

/** A tool, and the arguments that it is called with. */
export interface ToolCall {
  tool: string;
  /** The hash of the schema that the arguments were made for: a tool that has changed since is not called. */
  schema: string;
  /** What only the spelling of the schema may change: ids as numbers or as texts, letter case of listed values. */
  arguments: Readonly<Record<string, unknown>>;
}

const CHANGES = 'tool ';
const READS = 'reading tool ';

/** What the journal says that a step calls. */
export const changeBy = ({ tool }: ToolCall): string => `${CHANGES}${tool}`;
export const readingBy = ({ tool }: ToolCall): string => `${READS}${tool}`;

/** Whether a step, by what it calls, was a call that changes something. */
export const changesByTool = (calls: string): boolean => calls.startsWith(CHANGES);

const MOST_SAID = 500;

/** What a tool says, as one short text. */
export function saidIn({ texts, otherKinds }: ToolResult): string {
  const said = onOneLine(texts.join(' ')).trim().replaceAll(/\s+/g, ' ');
  if (said === '') return otherKinds.length > 0 ? `(${otherKinds.join(', ')})` : '(nothing)';
  return said.length > MOST_SAID ? `${said.slice(0, MOST_SAID - 1)}…` : said;
}
