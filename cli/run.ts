import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { Argument, type Command } from 'commander';
import { ON_COMMAND } from '../lib/aws-limits.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { messageOf } from '../lib/error-message.ts';
import { localTime } from '../lib/local-time.ts';
import { eventNow, type ScheduleEvent, schedules } from '../lib/schedules.ts';
import { ownKeyHeader } from '../local/state.ts';
import { printable } from '../local/terminal.ts';
import { awsClient } from './aws.ts';
import { MOMENTS, readMoment } from './moment.ts';
import { printJson } from './print.ts';
import { reach } from './reach.ts';
import { followTimesheets, nothingDue, timesheetsInWords } from './run-timesheets.ts';
import { type OpenTarget, relayHere } from './target.ts';

interface RunOptions {
  at?: Date;
  json?: boolean;
}

/** The jobs of a team's reminders usually end within seconds. */
const FOLLOWED_FOR_MS = 60_000;

/** `run`: runs a schedule now. */
export function addRunCommand(program: Command, open: OpenTarget, stage: () => string | undefined): void {
  program
    .command('run')
    .description('run a schedule now, and show the result')
    .addArgument(new Argument('<schedule>').choices(schedules.map(({ slug }) => slug)))
    .option('--at <time>', `run it as of this time: ${MOMENTS}`, readMoment)
    .option('--json', 'as JSON: what the function returned, and for timesheet-reminder the result for each person')
    .addHelpText(
      'after',
      `
  npm run -s relay -- run credential-check
  npm run -s relay -- run timesheet-reminder --at 2026-11-20T16:30+01:00
  npm run -s relay -- --stage prod run timesheet-reminder --at 2026-11-20T16:30+01:00`,
    )
    .action(async (slug: string, { at, json }: RunOptions) => {
      const event = eventNow(slug, at);
      const stageName = stage();
      const result = await (stageName === undefined ? runLocally(slug, event) : runDeployed(stageName, slug, event));
      if (slug === 'timesheet-reminder')
        return showTimesheets(result, open, { ...(at && { at }), ...(json && { json }) });
      if (!json) console.log(`${slug} ran:`);
      printJson(result);
    });
}

async function showTimesheets(result: unknown, open: OpenTarget, { at, json = false }: RunOptions): Promise<void> {
  const followed = await follow(result, open);
  if (!followed || json) return printJson({ ...Object(result), ...(followed && { teams: followed.teams }) });
  const { teams, target } = followed;
  const asOf = at?.getTime() ?? Date.now();
  console.log(`timesheet-reminder ran, as of ${localTime(asOf)}:\n`);
  const config = await loadConfig();
  const lines =
    teams.length > 0 ? timesheetsInWords(teams, target.slackStandIn !== undefined) : nothingDue(config, asOf);
  for (const line of lines) console.log(line);
}

/** @returns undefined if the operator may run the function and not read the jobs */
async function follow(result: unknown, open: OpenTarget) {
  try {
    const target = await open();
    return { target, teams: await followTimesheets(result, target.stores, FOLLOWED_FOR_MS) };
  } catch (error) {
    const why = messageOf(error);
    console.error(printable(`relay: it ran, but its result cannot be read: ${why}`));
    return undefined;
  }
}

/** Runs it in the process of `npm start`, which has the Slack stand-in and prints the steps. */
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

/** @throws {Error} with the error of the function */
export async function runDeployed(stage: string, slug: string, event: ScheduleEvent): Promise<unknown> {
  // The answer comes when the function has ended. Another try would run it once more.
  const timeoutSeconds = schedules.find((schedule) => schedule.slug === slug)?.timeoutSeconds ?? 0;
  const client = awsClient({ tries: 1, tryMs: timeoutSeconds * 1_000 + ON_COMMAND.tryMs });
  const { Payload, FunctionError } = await new LambdaClient(client).send(
    new InvokeCommand({ FunctionName: `partner-relay-${stage}-${slug}`, Payload: JSON.stringify(event) }),
  );
  const answer = JSON.parse(Payload?.transformToString() || 'null');
  if (FunctionError)
    throw new Error(`${slug} failed: ${answer?.errorMessage ?? FunctionError}; see its log for details`);
  return answer;
}
