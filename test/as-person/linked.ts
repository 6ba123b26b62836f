import { randomBytes } from 'node:crypto';
import type { Grant, Holder } from '../../lib/as-person/grants/grant.ts';
import { openMcpEndpoint } from '../../lib/as-person/grants/mcp-endpoint.ts';
import { schemaHash, type Tool } from '../../lib/as-person/protocol/tool.ts';
import { Toolbox } from '../../sandbox/mcp/tools/toolbox.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Commands } from '../kill/trial.ts';
import type { TestRelay } from '../relay.ts';
import { type Choices, consent } from '../sandbox/mcp/consent.ts';
import { MIRA } from '../slack-requests.ts';
import { REDIRECT_URI } from './world.ts';

export const miraInSlack: Holder = { in: 'slack', id: MIRA };

/** Links a person's account through the sandbox's pages. */
export async function linkAccount(
  { stores, clock, sandbox }: Pick<TestRelay, 'stores' | 'clock'> & { sandbox: Sandbox },
  holder: Holder = miraInSlack,
  { ask, ...choices }: Choices & { ask?: readonly string[] } = {},
): Promise<Grant> {
  const { link, grants } = await openMcpEndpoint({
    connection: 'main',
    limits: { perMinute: 120, perDay: 5_000 },
    ...stores,
    budget: undefined,
    lane: 'interactive',
    clock: () => clock.now,
    sleep: async (ms) => {
      clock.now += ms;
    },
    random: () => 0.5,
    randomBytes,
    fetch: globalThis.fetch,
    waitUntil: async () => {},
  });
  const { url, pending } = await link.begin(REDIRECT_URI, { only: ask });
  const { searchParams } = await consent(sandbox, url, choices);
  return grants.link(holder, await link.finish(pending, searchParams));
}

/** The hash of a tool's schema in today's sandbox. */
export function hashOf(name: string): string {
  const { tools } = new Toolbox({ names: {}, pageSize: 100, tellsScopes: false }).list(undefined) as {
    tools: Tool[];
  };
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`the sandbox has no tool ${name}`);
  return schemaHash(tool);
}

/** The mapping of commands to the sandbox's tools. */
export function sandboxCommands(): Commands {
  const log = {
    tool: 'log_time',
    arguments: { task: '{task}', hours: '{hours}', day: '{date}', comment: '{note} {marker}' },
    schema: hashOf('log_time'),
    id: 'entry.timelog_id',
    lookUp: {
      tool: 'list_time',
      arguments: { task: '{task}', from: '{date}', to: '{date}' },
      schema: hashOf('list_time'),
      rows: 'entries',
      id: 'entry',
      text: 'comment',
    },
  };
  const items = (done: boolean) => ({
    tool: 'complete_checklist_items',
    arguments: { items: '{items}', done },
    schema: hashOf('complete_checklist_items'),
  });
  return {
    log,
    done: items(true),
    undo: items(false),
    defect: {
      tool: 'report_defect',
      arguments: {
        project: '{project}',
        title: '{title}',
        description: '{description}\n\n{marker}',
        priority: '{priority}',
        severity: '{severity}',
      },
      schema: hashOf('report_defect'),
      id: 'defect.defect_id',
    },
    find: {
      tool: 'find_tasks',
      arguments: { containing: '{text}' },
      schema: hashOf('find_tasks'),
      rows: 'tasks',
      id: 'task',
      text: 'title',
    },
  };
}
