import type { Holder } from '../../as-person/grants/grant.ts';
import { fieldsOf, readForm } from '../../as-person/protocol/form.ts';
import { outsideText } from '../../as-person/protocol/outside-text.ts';
import { schemaHash } from '../../as-person/protocol/schema-hash.ts';
import type { Tool } from '../../as-person/protocol/tool.ts';
import { NeedsOperator, NotDone } from '../../engine/record/interruption.ts';
import type { Job } from '../../engine/record/job.ts';
import { type Automation, defineAutomation } from '../../engine/run/automation.ts';
import { changedSinceForm, saidIn } from '../../engine/run/tools/call.ts';
import type { ToolSteps } from '../../engine/run/tools/steps.ts';
import { placeOf } from '../../platforms/slack/command-button.ts';
import {
  argumentsIn,
  type ListedTool,
  toolBlocks,
  toolMessageModal,
  toolModal,
} from '../../platforms/slack/views/tool-views.ts';
import { updateModal } from '../../platforms/slack/views/update-modal.ts';
import { cutToLength } from '../../text.ts';
import type { Context } from '../context.ts';
import { resultOf } from '../create-with.ts';
import { FORM, toolCallJobs, toolFormJobs, toolListJobs } from './draft.ts';

const SHOWN = 40;

const MAX_DESCRIPTION_LENGTH = 200;

/** @throws {NotDone} if people cannot link accounts on the connection */
function holderOf({ asked, connection }: Job, { config }: Pick<Context, 'config'>): Holder {
  const link = config.connections[connection]?.mcp.link ?? 'off';
  if (link === 'off' || !asked?.by) throw new NotDone('relay.config.ts does not let people link their accounts here');
  return asked.by;
}

function listed(tool: Tool): ListedTool {
  const { name, title = '', description, hints } = tool;
  const shown = cutToLength(outsideText(description), MAX_DESCRIPTION_LENGTH, '…');
  const hasForm = fieldsOf(tool) !== undefined;
  return { name, title: outsideText(title), description: shown, isDestructive: hints.destructive, hasForm };
}

/** Lists the tools that a person may call. */
export function listTools(context: Context): Automation {
  return defineAutomation(toolListJobs, async ({ word = '' }, job, steps) => {
    const wanted = word.toLowerCase();
    const isWanted = (tool: ListedTool) =>
      [tool.name, tool.title, tool.description].some((text) => text.toLowerCase().includes(wanted));
    const { shown, left } = await steps.as(holderOf(job, context)).list('list tools', (list) => {
      const found = list.tools.map(listed).filter(isWanted);
      return { shown: found.slice(0, SHOWN), left: Math.max(0, found.length - SHOWN) };
    });
    if (shown.length === 0) throw new NotDone(`There is no tool with ${outsideText(word)} in its name or description`);
    return { text: `tools: ${shown.length + left}`, blocks: toolBlocks(placeOf(job), shown, left) };
  });
}

const readTool = (mine: ToolSteps, name: string): Promise<Tool | null> =>
  mine.list('read the tool', ({ tools }) => tools.find((one) => one.name === name) ?? null);

/** Makes the form of a tool from its schema, in a modal that is open. */
export function fillInTool(context: Context): Automation {
  const { slack, clock } = context;
  return defineAutomation(toolFormJobs, async ({ opened, tool: name }, job, steps) => {
    if (!slack) throw new NeedsOperator('relay.config.ts has no slack any more');
    const { connection } = job;
    const tool = await readTool(steps.as(holderOf(job, context)), name);
    const schema = tool && schemaHash(tool);
    const fields = tool && fieldsOf(tool);
    const form = tool && schema && fields && toolModal(listed(tool), { connection, schema, madeBy: job.id }, fields);
    const why = tool
      ? 'This tool takes more than a form can hold. Use it in the service.'
      : 'The service does not list this tool any more.';
    // As JSON, because a schema can have names and numbers that the table does not take.
    if (form) await steps.read(FORM, 'Slack form', async () => JSON.stringify(tool.inputSchema));
    const updated = await updateModal(slack, clock, steps, opened, form || toolMessageModal(why));
    // The person sees the form. They are only told if it cannot be made, for example because no account is linked.
    const text = updated ? `the form of ${name} is shown` : 'nothing to do: the modal was closed already';
    return { text, isUntold: true };
  });
}

/** Calls a tool as the person who filled in its form. */
export function callTool(context: Context): Automation {
  return defineAutomation(toolCallJobs, async ({ tool: name, schema, values, isConfirmed }, job, steps) => {
    const mine = steps.as(holderOf(job, context));
    const tool = await readTool(mine, name);
    if (!tool || schemaHash(tool) !== schema) throw changedSinceForm(name);
    if (tool.hints.destructive && !isConfirmed) {
      throw new NotDone(`${name} may delete or overwrite something, and that was not confirmed`);
    }
    const form = readForm(tool, argumentsIn(values));
    if ('fault' in form) {
      throw new NotDone(
        `The tool ${name} does not take ${outsideText(form.name)} (${form.fault}). Please open the form again`,
      );
    }
    const call = { tool: name, schema, arguments: form.args, isFilledIn: true };
    const said = tool.hints.readOnly
      ? await mine.read('call the tool', call, saidIn)
      : resultOf(await mine.make('call the tool', call, saidIn), name, `${name} was carried out`, false);
    return `the tool ${name} says: ${said}`;
  });
}
