import type { Command } from 'commander';
import { loadConfig } from '../lib/config/config-file.ts';
import { createWaitingLines } from '../lib/engine/line/waiting-line.ts';
import { type Resumed, resumeConnection } from '../lib/engine/operate/resume.ts';
import { unknownName } from '../lib/faults/unknown-name.ts';
import { localTime } from '../lib/local-time.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { createBreakers } from '../lib/service/connection/breakers.ts';
import { oneLine } from '../local/terminal.ts';
import { withIsoTimes } from './json-times.ts';
import { operatorOf } from './operator.ts';
import { printJson } from './print.ts';
import type { OpenTarget } from './target.ts';

/** `resume`: resumes a paused or stopped connection at once. */
export function addResumeCommand(program: Command, open: OpenTarget): void {
  program
    .command('resume <connection>')
    .description('end the pause after a 429, close the breakers of failing operations, and continue waiting jobs now')
    .option('--json', 'as JSON, with times in ISO 8601')
    .action(async (connection: string, options: { json?: boolean }) => {
      const target = await open();
      const { stores } = target;
      const config = await loadConfig();
      const limits = config.connections[connection]?.limits;
      if (!limits) {
        throw new Error(unknownName('relay.config.ts has no connection', connection, Object.keys(config.connections)));
      }
      const { table } = stores;
      const breakers = createBreakers({ table, clock: stores.clock, random: Math.random });
      const budget = createBudget({ table });
      const lines = createWaitingLines({ ...stores, budget, breakers, clock: stores.clock });
      const resumed = await resumeConnection(connection, {
        ...stores,
        limits,
        budget,
        breakers,
        lines,
        decision: { at: stores.clock(), by: operatorOf(target), what: 'resumed' },
      });
      if (options.json) return printJson(withIsoTimes(resumed));
      for (const line of inWords(connection, resumed)) console.log(line);
    });
}

function inWords(connection: string, { pausedUntil, stopped, queued }: Resumed): string[] {
  const lifted = pausedUntil === null ? [] : [`ended the pause that lasted until ${localTime(pausedUntil)}`];
  const closed = stopped.map(
    ({ operation = `the connection ${connection}`, why }) => `${operation} was stopped: ${oneLine(why)}`,
  );
  const held = [...lifted, ...closed];
  return [
    ...(held.length > 0 ? held : [`the connection ${connection} was neither paused nor stopped`]),
    `${queued} waiting jobs continue`,
  ];
}
