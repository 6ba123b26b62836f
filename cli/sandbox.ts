import { Argument } from 'commander';
import * as z from 'zod';
import { oneLine } from '../local/terminal.ts';
import type { Data } from '../sandbox/records.ts';
import type { Define } from './cli.ts';
import { printJson } from './print.ts';
import { reach } from './reach.ts';
import type { Target } from './target.ts';

const slackPeople = z.array(z.object({ id: z.string(), name: z.optional(z.string()), email: z.optional(z.string()) }));

type ListRow = Record<string, string | number | undefined>;

/** The rows of each list, with the id first, and a command that takes such an id. */
const LISTS: Record<string, { rows: (data: Data, target: Target) => ListRow[] | Promise<ListRow[]>; example: string }> =
  {
    people: { rows: people, example: "send slack '/pm status' --user U0TOMASZ1" },
    projects: {
      rows: ({ projects }) => projects.map(({ project_id: id, name }) => ({ id, name })),
      example: "send slack '/pm find shop'",
    },
    tasks: { rows: tasks, example: "send slack '/pm log 2h d94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e03'" },
    items: { rows: items, example: "send --body '/done 101'" },
    defects: { rows: defects, example: 'call defects/list' },
    scenarios: {
      rows: ({ testScenarios }) => testScenarios.map(({ scenario_id: id, name, status }) => ({ id, name, status })),
      example: 'send workflow_run --junit node_modules/partner-relay/docs/guides/junit',
    },
  };

const COMMANDS = Object.keys(LISTS)
  .map((name) => `  npx partner-relay sandbox ${name}`)
  .join('\n');

/** `sandbox`: lists the records of the sandbox, with the ids that commands take. */
export const define: Define = (command, { open }) =>
  command
    .description(
      'list the people, projects, tasks, checklist items, defects or test scenarios of the sandbox, with their ids',
    )
    .addArgument(new Argument('[list]').choices(Object.keys(LISTS)))
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
  npx partner-relay sandbox items
  npx partner-relay send --body '/done 101'`,
    )
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const list = name === undefined ? undefined : LISTS[name];
      if (!list) return console.log(`The lists of the sandbox, with the ids that commands take:\n\n${COMMANDS}`);
      const target = await open();
      const url = target.running?.sandbox;
      if (url === undefined) throw new Error('this relay uses a real instance, not the sandbox: look the ids up there');
      const response = await reach(`${url}/sandbox/data`, {});
      const rows = await list.rows((await response.json()) as Data, target);
      if (options.json) return printJson(rows);
      for (const line of table(rows)) console.log(oneLine(line));
      if (target.slackStandIn || !list.example.includes('slack')) console.log(`\n  npx partner-relay ${list.example}`);
    });

async function people({ users }: Data, { slackStandIn }: Target): Promise<ListRow[]> {
  const response = slackStandIn && (await reach(`${slackStandIn.url}/people`, { headers: slackStandIn.headers }));
  const inSlack = response ? slackPeople.parse(await response.json()) : [];
  const known = users.map(({ user_id: id, name, email }) => ({
    id,
    name,
    email,
    ...(response && { slack: inSlack.find((one) => one.email === email)?.id ?? 'not in Slack' }),
  }));
  const others = inSlack.filter(({ email }) => !users.some((one) => one.email === email));
  return [...known, ...others.map(({ id: slack, name, email }) => ({ id: 'not in the service', name, email, slack }))];
}

function tasks({ tasks, projects }: Data): ListRow[] {
  return tasks.map(({ task_id: id, title, project_id }) => ({ id, title, project: nameOf(projects, project_id) }));
}

function items({ checklistItems, checklistGroups, tasks }: Data): ListRow[] {
  return checklistItems.map(({ item_id: id, group_id, name, is_completed }) => {
    const group = checklistGroups.find((one) => one.group_id === group_id);
    const task = tasks.find((one) => one.task_id === group?.work_item_id);
    return { id, name, state: is_completed ? 'completed' : 'open', group: group?.name, task: task?.title };
  });
}

function defects({ defects, projects }: Data): ListRow[] {
  return defects.map(({ defect_id: id, title, project_id }) => ({ id, title, project: nameOf(projects, project_id) }));
}

function nameOf(projects: Data['projects'], id: string): string | undefined {
  return projects.find(({ project_id }) => project_id === id)?.name;
}

/** Formats rows as columns, one row a line. */
function table(rows: readonly ListRow[]): string[] {
  const names = Object.keys(rows[0] ?? {});
  const widthOf = (name: string) => Math.max(...rows.map((row) => String(row[name] ?? '').length));
  return rows.map((row) =>
    names
      .map((name) => String(row[name] ?? '').padEnd(widthOf(name)))
      .join('  ')
      .trimEnd(),
  );
}
