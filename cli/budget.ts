import type { Command } from 'commander';
import { createBudget } from '../lib/budget/budget.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

/** `budget`: what each connection has used of its limits. */
export function addBudgetCommand(program: Command, open: OpenTarget): void {
  program
    .command('budget')
    .description('what each connection has used of its limits, and until when it is paused')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const { stores } = await open();
      const { default: config } = await import('../relay.config.ts');
      const budget = createBudget(stores.table, Date.now);
      const views = await Promise.all(
        Object.entries(config.connections).map(async ([connection, { limits }]) => ({
          connection,
          ...(await budget.view(connection, limits)),
        })),
      );
      if (options.json) return printJson(views);
      for (const { connection, minute, day, pausedUntil } of views) {
        const paused = pausedUntil === null ? '' : `; paused until ${new Date(pausedUntil).toISOString()}`;
        console.log(
          `${connection}: ${minute.used} of ${minute.limit} in the last minute, ${day.used} of ${day.limit} in the last day${paused}`,
        );
      }
    });
}
