import type { Command } from 'commander';
import { type BudgetView, createBudget } from '../lib/budget/budget.ts';
import { type Lane, lanes } from '../lib/budget/lanes.ts';
import { createStrangerShare, type StrangersToday } from '../lib/budget/stranger-share.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { type Breakers, createBreakers } from '../lib/connection/breakers.ts';
import { mostOfStrangers } from '../lib/jobs/stranger-turn.ts';
import { localTime } from '../lib/local-time.ts';
import { oneLine } from '../local/terminal.ts';
import { counted } from './counted.ts';
import { withIsoTimes } from './json-times.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

const COUNTED_UP_TO = 1_000;

/** `budget`: how much of its limits each connection has used, and how many calls each lane can still send. */
export function addBudgetCommand(program: Command, open: OpenTarget): void {
  program
    .command('budget')
    .description('show how much of its limits each connection has used, and what each lane can still send and when')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (options: { json?: boolean }) => {
      const { stores } = await open();
      const config = await loadConfig();
      const budget = createBudget(stores.table, Date.now);
      const breakers = createBreakers({ table: stores.table, clock: Date.now, random: Math.random });
      const share = createStrangerShare(stores.table, Date.now);
      const views = await Promise.all(
        Object.entries(config.connections).map(async ([connection, { limits, strangersShare }]) => ({
          connection,
          ...(await budget.view(connection, limits)),
          inLine: Object.fromEntries(
            await Promise.all(
              lanes.map(async (lane) => [lane, (await stores.jobs.line(connection, lane, COUNTED_UP_TO)).length]),
            ),
          ) as Record<Lane, number>,
          strangers: { ...(await share.today(connection)), most: mostOfStrangers(limits, strangersShare) },
          stopped: await breakers.listOpen(connection),
        })),
      );
      if (options.json) return printJson(withIsoTimes(views));
      const now = Date.now();
      for (const { connection, ...view } of views) console.log([connection, ...lines(view, now)].join('\n  '));
    });
}

type View = BudgetView & {
  inLine: Record<Lane, number>;
  strangers: StrangersToday & { most: number };
  stopped: Awaited<ReturnType<Breakers['listOpen']>>;
};

/** A connection's budget in words. */
function lines({ minute, day, pausedUntil, stopped, strangers, ...view }: View, now: number): string[] {
  return [
    `${minute.used} of ${minute.limit} in the last minute, ${day.used} of ${day.limit} in the last day`,
    ...(pausedUntil === null ? [] : [`paused until ${localTime(pausedUntil)}`]),
    ...stopped.map(({ operation = 'the connection', since, why }) => {
      return `${operation} has been failing since ${localTime(since)}: ${oneLine(why)}`;
    }),
    ...lanes.map((lane) => laneLine(lane, view, now)),
    strangersLine(strangers),
  ];
}

function strangersLine({ used, most, who }: View['strangers']): string {
  const by = who.length === 0 ? '' : `, by ${who.map((login) => `@${oneLine(login)}`).join(', ')}`;
  return `strangers: ${used} of ${most} today${by}`;
}

function laneLine(lane: Lane, view: Pick<View, 'lanes' | 'inLine'>, now: number): string {
  const { left, nextSlotAt } = view.lanes[lane];
  const next = nextSlotAt <= now ? 'now' : `at ${localTime(nextSlotAt)}`;
  const standing = view.inLine[lane];
  const jobs = standing >= COUNTED_UP_TO ? `${COUNTED_UP_TO} or more jobs` : counted(standing, 'job');
  const inLine = standing === 0 ? '' : `; ${jobs} in line`;
  return `${lane}: ${counted(left, 'call')} can be sent at once, next slot ${next}${inLine}`;
}
