import { idAt, readRows } from '../as-person/protocol/rows.ts';
import type { CreatingTool, Listing } from '../config/mcp.ts';
import { type Fields, fillTemplate } from '../config/template.ts';
import { NotDone } from '../engine/record/interruption.ts';
import type { Made } from '../engine/run/tools/changes.ts';
import type { ToolSteps } from '../engine/run/tools/steps.ts';

interface CreatedAs {
  /** Its name in the journal. */
  step: string;
  use: CreatingTool;
  /** With `marker`, by which it is looked for after a lost answer. */
  fields: Fields & { marker: string };
  /** What the person may have to find out: `this was logged`. */
  unclear: string;
  /** Whether strangers read the message. If so, it omits the service's own words. */
  isPublic: boolean;
}

/**
 * Creates something with a tool, as a person.
 * @returns its id, where the configuration says where to find that, and it looks like one
 * @throws {NotDone} if the tool says why it did not do it, and where it is unknown whether it did
 */
export async function createWith(tools: ToolSteps, asked: CreatedAs): Promise<string | number | undefined> {
  const { step, use, fields, unclear, isPublic } = asked;
  const { tool, schema, id: path, lookUp } = use;
  const call = { tool, schema, arguments: fillTemplate(use.arguments, fields) };
  const made = await tools.make(
    step,
    call,
    (result) => ({ id: path === undefined ? undefined : idAt(result, path) }),
    lookUp && ((reader, look) => findMarked(reader, look, lookUp, fields)),
  );
  const id = resultOf(made, tool, unclear, isPublic)?.id;
  return ID.test(String(id)) ? id : undefined;
}

/** Records and public comments show the id, so a text that could be the service's own words does not count as one. */
const ID = /^[\w.:/-]{1,64}$/;

/** @throws {NotDone} unless it is done */
export function resultOf<Kept>(made: Made<Kept>, tool: string, unclear: string, isPublic: boolean): Kept {
  if (made.became === 'done') return made.kept;
  if (made.became === 'failed') {
    throw new NotDone(isPublic ? 'The service does not take this' : `The tool ${tool} says: ${made.said}`);
  }
  const why = isPublic ? '' : ` (${made.why})`;
  throw new NotDone(`I do not know whether ${unclear}${why}. Please look in the service before you ask for it again`);
}

async function findMarked(
  tools: Pick<ToolSteps, 'read'>,
  step: string,
  { tool, schema, rows, id, text, ...list }: Listing,
  fields: CreatedAs['fields'],
): Promise<{ id: string | number } | undefined> {
  const call = { tool, schema, arguments: fillTemplate(list.arguments, fields) };
  const found = await tools.read(step, call, (result) => {
    const listed = readRows(result, { rows, id, text });
    if (!listed) throw new NotDone(`The result of ${tool} has no list at ${rows}`);
    const row = listed.find((one) => one.text.includes(fields.marker));
    return row ? { id: row.id } : null;
  });
  return found ?? undefined;
}
