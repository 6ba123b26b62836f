import * as z from 'zod/mini';
import type { Tool } from '../../as-person/protocol/tool.ts';
import { asTyped, unquoted } from '../../commands/words.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { openedView } from '../../platforms/slack/views/update-modal.ts';
import { type CommandOrigin, eventOf, type JobVerb } from '../verb.ts';

export const toolListJobs = defineJobs('list-tools', z.object({ word: z.optional(z.string()) }));

/** A form that was opened for a tool, before its schema is known. */
export const toolFormJobs = defineJobs('fill-in-tool', z.object({ opened: openedView, tool: z.string() }));

export const toolCallJobs = defineJobs(
  'call-tool',
  z.object({
    tool: z.string(),
    /** The hash of the schema that the form was made of. */
    schema: z.string(),
    /** As they were typed or chosen, by block: no name of the table may be empty, and that of an argument may be. */
    values: z.record(z.string(), z.string()),
    /** Whether the person confirmed that the tool may delete or overwrite something. */
    isConfirmed: z.boolean(),
  }),
);

interface DoCommand {
  verb: 'do';
  word?: string;
}

export const doVerb: JobVerb<DoCommand> = {
  verb: 'do',
  usage: 'do [word]',
  does: 'lists what else you can do in the service with your linked account, each with a form',
  examples: ['do', 'do task'],
  read(typed) {
    const word = unquoted(typed);
    return { command: word === '' ? { verb: 'do' } : { verb: 'do', word } };
  },
  print: ({ word }) => (word === undefined ? 'do' : `do ${asTyped(word)}`),
  permission: 'do',
  needsAccounts: true,
  asksBeforeRepeating: false,
  job: ({ verb, ...input }, origin) =>
    toolListJobs.draft({ ...eventOf(verb, verb, origin), group: `${origin.entity}-do`, input }),
};

/** The job of a tool whose form was sent off. */
export function toolCallJob(
  call: { tool: string; schema: string; values: Record<string, string>; isConfirmed: boolean },
  origin: CommandOrigin,
): JobDraft {
  return toolCallJobs.draft({ ...eventOf('do', `do ${call.tool}`, origin), input: call });
}

export const FORM = 'make the form';

/**
 * The schema that a form was made from, for the function that receives the form and cannot open sealed texts. It
 * decides nothing: the job that calls the tool reads the tool again.
 *
 * @param entry reads the record of a step
 */
export async function schemaOfForm(
  madeBy: string,
  entry: (jobId: string, step: string) => Promise<{ result?: unknown } | undefined>,
): Promise<Pick<Tool, 'inputSchema'> | undefined> {
  const made = await entry(madeBy, FORM);
  return typeof made?.result === 'string' ? { inputSchema: JSON.parse(made.result) } : undefined;
}
