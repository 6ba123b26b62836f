import type { Command } from 'commander';
import { type BudgetView, createBudget, type Lane } from '../lib/budget/budget.ts';
import { type Breakers, createBreakers } from '../lib/connection/breakers.ts';
import { plain, printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

/** `budget`: what each connection has used of its limits, and what each lane may still send. */
export function addBudgetCommand(program: Command, open: OpenTarget): void {
  program
    .command('budget')
    .description('what each connection has used of its limits, what each lane has left, and when its next slot is free')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { stores } = await open();
      const { default: config } = await import('../relay.config.ts');
      const budget = createBudget(stores.table, Date.now);
      const breakers = createBreakers({ table: stores.table, clock: Date.now, random: Math.random });
      const views = await Promise.all(
        Object.entries(config.connections).map(async ([connection, { limits }]) => ({
          connection,
          ...(await budget.view(connection, limits)),
          stopped: await breakers.listOpen(connection),
        })),
      );
      if (options.json) return printJson(views);
      const now = Date.now();
      for (const { connection, ...view } of views) console.log([connection, ...lines(view, now)].join('\n  '));
    });
}

type Stopped = Awaited<ReturnType<Breakers['listOpen']>>;

/** A connection's budget in words. */
function lines({ minute, day, pausedUntil, lanes, stopped }: BudgetView & { stopped: Stopped }, now: number): string[] {
  return [
    `${minute.used} of ${minute.limit} in the last minute, ${day.used} of ${day.limit} in the last day`,
    ...(pausedUntil === null ? [] : [`paused until ${new Date(pausedUntil).toISOString()}`]),
    ...stopped.map(({ operation = 'the connection', since, why }) => {
      return `${operation} fails since ${new Date(since).toISOString()}: ${plain(why)}`;
    }),
    ...Object.entries(lanes).map(([lane, view]) => laneLine(lane as Lane, view, now)),
  ];
}

function laneLine(lane: Lane, { left, nextSlotAt, waiting, waitingUntil }: BudgetView['lanes'][Lane], now: number) {
  const next = nextSlotAt <= now ? 'now' : `at ${new Date(nextSlotAt).toISOString()}`;
  const line =
    waitingUntil === null ? '' : `; ${waiting} told to come back, the last at ${new Date(waitingUntil).toISOString()}`;
  return `${lane}: ${left.minute} left of the minute and ${left.day} of the day, next slot ${next}${line}`;
}
