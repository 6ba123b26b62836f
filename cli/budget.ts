import { heldJobs, readWaiting } from '../console/held-jobs.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { connectionSettings } from '../lib/config/settings.ts';
import { localTime } from '../lib/dates.ts';
import { type Count, countInWords, countLine, countOf } from '../lib/engine/operate/job-counts.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { type Lane, lanes, ofEachLane } from '../lib/service/budget/lanes.ts';
import { createStrangerShare, mostOfStrangers, type StrangersToday } from '../lib/service/budget/stranger-share.ts';
import { causesOf } from '../lib/service/connection/breaker-item.ts';
import { type ConnectionView, viewConnection } from '../lib/service/connection/connection-view.ts';
import { counted } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { laneInWords, printJson, withIsoTimes } from './print.ts';
import { toPaste } from './to-paste.ts';

/** `budget`: how much of its limits each connection has used, and how many calls each lane can still send. */
export const define: Define = (command, { open }) =>
  command
    .arguments('[connection]')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (only: string | undefined, options: { json?: boolean }) => {
      const { stores } = await open();
      const config = await loadConfig();
      const shown = only === undefined ? config.connections : { [only]: connectionSettings(config, only) };
      const budget = createBudget({ table: stores.table });
      const share = createStrangerShare(stores.table, stores.clock);
      const waiting = await readWaiting(stores.jobs);
      const views = await Promise.all(
        Object.entries(shown).map(async ([connection, { limits, strangersShare }]) => {
          const view = await viewConnection(connection, limits, { budget, ...stores });
          const { standing } = await heldJobs(connection, view, waiting, stores.jobs);
          return {
            connection,
            ...view,
            held: ofEachLane((lane) => countOf(standing.filter((job) => job.lane === lane).length)),
            inLine: Object.fromEntries(
              await Promise.all(lanes.map(async (lane) => [lane, await countLine(stores.jobs, connection, lane)])),
            ) as Record<Lane, Count>,
            strangers: { ...(await share.today(connection)), most: mostOfStrangers(limits, strangersShare) },
          };
        }),
      );
      if (options.json) return printJson(withIsoTimes(views));
      const now = stores.clock();
      for (const { connection, ...view } of views)
        console.log(toPaste([connection, ...lines(connection, view, now)].join('\n  ')));
    });

type BudgetReport = ConnectionView & {
  /** The jobs in the line of each lane. */
  inLine: Record<Lane, Count>;
  /** The jobs that wait for what does not work. */
  held: Record<Lane, Count>;
  strangers: StrangersToday & { most: number };
};

function lines(connection: string, view: BudgetReport, now: number): string[] {
  const { minute, day, pausedUntil, assumed, stopped, failing, strangers } = view;
  return [
    `${minute.used} of ${minute.limit} calls in the last minute (one is kept for repeats and searches), ${day.used} of ${day.limit} in the last day`,
    ...(assumed === null
      ? []
      : [
          `the service seems to allow ${assumed.perMinute} calls a minute, since a 429 at ${localTime(assumed.since)}: other software uses the key, or its limit is lower`,
        ]),
    ...(pausedUntil === null ? [] : [`paused until ${localTime(pausedUntil)}`]),
    ...causesOf(stopped).flatMap(({ operation, since, until, why, refusesKey }) => {
      const time = localTime(since);
      if (refusesKey)
        return [
          `the service has refused the key since ${time}: ${oneLine(why)}`,
          `to enter a new one: npx partner-relay secrets set partner/${connection}`,
        ];
      const what = operation === undefined ? 'the service has been down' : `${operation} has been failing`;
      const next = until > now ? `by ${localTime(until)}` : 'with the next waiting or new job that calls it';
      return [`${what} since ${time}: ${oneLine(why)}`, `Partner Relay tries again ${next}`];
    }),
    ...(failing === undefined || pausedUntil !== null || stopped.length > 0
      ? []
      : [`the last call failed at ${localTime(failing.failedAt ?? failing.since)}: ${oneLine(failing.why)}`]),
    ...(stopped.length > 0 ? heldLine(view) : []),
    ...(view.isStopped ? [] : lanes.map((lane) => laneLine(lane, view, now))),
    ...strangersLine(strangers),
  ];
}

function strangersLine({ used, most, who }: BudgetReport['strangers']): string[] {
  if (used === 0) return [];
  const by = who.length === 0 ? '' : `, by ${who.map((login) => `@${oneLine(login)}`).join(', ')}`;
  return [`strangers: ${used} of ${most} today${by}`];
}

/** Counts the waiting jobs. Another line says what they wait for. */
function heldLine({ held }: BudgetReport): string[] {
  const waiting = lanes
    .filter((lane) => held[lane].jobs > 0)
    .map((lane) => `${countInWords(held[lane])} ${laneInWords[lane]}`);
  return waiting.length === 0 ? [] : [`jobs that wait until calls work again: ${waiting.join(', ')}`];
}

function laneLine(lane: Lane, { lanes, inLine }: Pick<BudgetReport, 'lanes' | 'inLine'>, now: number): string {
  const { left, nextSlotAt } = lanes[lane];
  const at = Number.isFinite(nextSlotAt) ? `at ${localTime(nextSlotAt)}` : 'at an unknown time';
  const next = nextSlotAt <= now ? '' : `, the next ${at}`;
  const waiting = inLine[lane].jobs === 0 ? '' : `; in line: ${countInWords(inLine[lane])}`;
  return `${laneInWords[lane]}: ${counted(left, 'call')} can be sent now${next}${waiting}`;
}
