import * as z from 'zod';
import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { localTime } from '../lib/dates.ts';
import { shortName } from '../lib/engine/record/job.ts';
import { eventNow, type ScheduleEvent, schedules } from '../lib/schedules.ts';
import { counted } from '../lib/text.ts';
import { lastReminderAt } from '../lib/timesheets/calendar.ts';
import { customOf } from '../lib/triggers/custom-automation.ts';
import { ownKeyHeader } from '../local/state.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { printFindings } from './doctor/finding.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { printJson } from './print.ts';
import { reach } from './reach.ts';
import { runDeployed } from './run-deployed.ts';
import { relayHere } from './target.ts';

interface RunOptions {
  at?: Date;
  json?: boolean;
}

/** `run`: runs a schedule now. */
export const define: Define = (command, { stage, readConfig, customFolder }) => {
  command
    .argument('<schedule>', `${slugs.join(', ')}, or one of automations/`)
    .option('--at <time>', `run it as of this time: ${MOMENTS}`, readMoment)
    .option('--json', 'print only what the function returned, as JSON')
    .addHelpText(
      'after',
      `
  npx partner-relay run credential-check
  npx partner-relay run due-schedules --at 2026-11-20T16:30+01:00
  npx partner-relay run monday-tasks --at 2026-11-23T09:00
  npx partner-relay --stage prod run due-schedules --at 2026-11-20T16:30+01:00`,
    )
    .action(async (name: string, { at, json }: RunOptions) => {
      const { slug, event } = await chosen(name, at);
      const stageName = stage();
      const result = await (stageName === undefined ? runLocally(slug, event) : runDeployed(stageName, slug, event));
      if (json) return printJson(result);
      const now = at?.getTime() ?? Date.now();
      console.log(`${name} ran${at === undefined ? '' : ` as of ${localTime(now)}`}.`);
      if (name === 'due-schedules' && returned.safeParse(result).data?.jobs?.length === 0)
        console.log(nothingDue(await readConfig(), now));
      else printReturned(result);
    });

  /** The function to run, and its event. due-schedules makes the jobs of the team's own schedules. */
  async function chosen(name: string, at: Date | undefined): Promise<{ slug: string; event: ScheduleEvent }> {
    if (slugs.includes(name)) return { slug: name, event: eventNow(name, at) };
    const { custom, faults } = await readCustomAutomations(await readConfig(), customFolder);
    const known = customOf(custom, 'schedule').map((one) => one.name);
    if (known.includes(name)) return { slug: 'due-schedules', event: { ...eventNow('due-schedules', at), own: name } };
    const fault = faults.find((one) => one.startsWith(`automations/${name}.ts:`));
    throw new Error(fault ?? `there is no schedule '${name}'; there are ${[...slugs, ...known].join(', ')}`);
  }
};

const slugs = schedules.map(({ slug }) => slug);

/** What the functions return; each returns some of it. */
const returned = z.object({
  swept: z.number().optional(),
  checked: z
    .array(z.object({ secret: z.string(), verdict: z.enum(['good', 'bad', 'unknown', 'skipped']), why: z.string() }))
    .optional(),
  jobs: z.array(z.object({ id: z.string(), summary: z.string(), repeat: z.boolean() })).optional(),
  hooks: z.number().optional(),
  refused: z.number().default(0),
  redelivered: z.number().default(0),
  givenUp: z.number().default(0),
});

function printReturned(result: unknown): void {
  const { swept, checked, jobs, hooks, refused, redelivered, givenUp } = returned.parse(result);
  if (checked)
    printFindings(
      checked.map(({ secret, verdict, why }) => ({
        what: secret,
        verdict: verdict === 'skipped' ? 'unknown' : verdict,
        detail: why,
      })),
    );
  if (swept !== undefined) console.log(`Queued ${counted(swept, 'job')} again.`);
  for (const { id, summary, repeat } of jobs ?? [])
    console.log(oneLine(`${repeat ? 'Known job' : 'New job'} ${shortName(id)}: ${summary}`));
  if (hooks === undefined) return;
  console.log(
    `Looked at ${counted(hooks, 'webhook')}, and asked GitHub to send ${counted(redelivered, 'event')} again.`,
  );
  if (givenUp > 0)
    console.log(`Gave up ${counted(givenUp, 'event')}, because each attempt failed while others arrived.`);
  if (refused > 0) console.log(`GitHub refuses ${counted(refused, 'webhook')}: npx partner-relay doctor says why.`);
}

/** Why nothing is due at that time, and when something was last due. */
function nothingDue({ timesheets }: Pick<RelayConfig, 'timesheets'>, at: number): string {
  const { teams } = timesheets ?? {};
  if (!teams) return 'No timesheets are due: relay.config.ts has none.';
  const last = Math.max(...teams.map((team) => lastReminderAt(team, at) ?? Number.NEGATIVE_INFINITY));
  const before = Number.isFinite(last)
    ? ` The last time that timesheets were due: --at ${new Date(last).toISOString()}`
    : '';
  return `No timesheets are due at ${localTime(at)}.${before}`;
}

/** Runs the schedule in the process of `partner-relay start`, which has Slack's stand-in and prints the steps. */
async function runLocally(slug: string, event: ScheduleEvent): Promise<unknown> {
  const running = await relayHere();
  const response = await reach(`${running.url}/schedules/${slug}`, {
    method: 'POST',
    headers: { ...ownKeyHeader(running), 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: string };
  if (!response.ok) throw new Error(`${slug} failed: ${error}`);
  return result;
}
