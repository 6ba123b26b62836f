import type { Command } from 'commander';
import { loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { elapsed, localTime } from '../lib/local-time.ts';
import { isOfPeople } from '../lib/service/budget/lanes.ts';
import { counted } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import { readPastEvents } from '../local/trial/past-events.ts';
import type { Rehearsal } from '../local/trial/rehearse.ts';
import { readCount } from './numbers.ts';
import type { OpenTarget } from './target.ts';

const HOUR_MS = 3_600_000;
const MOST_NAMED = 5;

/** `rehearse`: lets the last days happen again under relay.config.ts as it is in this folder. */
export function addRehearseCommand(
  program: Command,
  open: OpenTarget,
  readConfig: () => Promise<RelayConfig> = loadConfig,
): void {
  program
    .command('rehearse')
    .description(
      'let the last days happen again under the relay.config.ts in this folder, with the sandbox and on a clock of its ' +
        'own: when the calls of the day are used up, and who waits how long',
    )
    .option('--days <count>', 'so many days back; ended jobs are kept for 30', readCount, 7)
    .addHelpText('after', '\n  npm run -s relay -- rehearse --days 7\n  npm run -s relay -- --stage prod rehearse')
    .action(async ({ days }: { days: number }) => {
      // No other command needs the functions and the sandbox.
      const { rehearse } = await import('../local/trial/rehearse.ts');
      const { stores } = await open();
      const config = await readConfig();
      const since = stores.clock() - days * 24 * HOUR_MS;
      const events = await readPastEvents(stores, config, since);
      const { jobs, calls, end } = await rehearse(events, config);
      const made = `${counted(events.length, 'event')}, and this configuration makes ${counted(jobs.length, 'job')}`;
      console.log(`Since ${localTime(since)}: ${made}.`);
      for (const [connection, { limits }] of Object.entries(config.connections)) {
        const isOwn = (one: { connection: string }) => one.connection === connection;
        const own = { jobs: jobs.filter(({ job }) => isOwn(job)), calls: calls.filter(isOwn), end };
        console.log(
          `\n${connection}, with ${limits.perMinute} calls a minute and ${limits.perDay.toLocaleString('en-GB')} a day:`,
        );
        for (const line of inWords(own)) console.log(line);
      }
      console.log('\nNothing was sent.');
    });
}

/** How long a job waited for the budget, and the hours in which it did because the calls of the day were used up. */
function waitingOf({ event: { at, by }, job: { lane, waits } }: Rehearsal['jobs'][number], end: number) {
  const own = (waits?.newest ?? []).filter((wait) => wait.for === 'budget');
  const waitedMs = own.reduce((sum, { from, until = end }) => sum + until - from, 0);
  const ofDay = own.filter(({ why }) => why.startsWith("the day's "));
  const usedUp = ofDay.flatMap(({ from, until = end }) => hoursBetween(from, until));
  return { at, by, isOfPeople: isOfPeople(lane), waitedMs, usedUp };
}

function inWords({ jobs, calls, end }: Rehearsal): string[] {
  const all = jobs.map((job) => waitingOf(job, end));
  const usedUp = new Set(all.flatMap((one) => one.usedUp));
  const jobsAt = Map.groupBy(all, ({ at }) => hourOf(at));
  const callsAt = Map.groupBy(calls, ({ at }) => hourOf(at));
  const hours = [...new Set([...jobsAt.keys(), ...callsAt.keys()])].sort((a, b) => a - b);
  const edges = (next: number) => [...usedUp].filter((hour) => !usedUp.has(hour + next)).sort((a, b) => a - b);
  const [from, until] = [edges(-HOUR_MS), edges(HOUR_MS)];
  const waiting = all.filter(({ waitedMs }) => waitedMs > 0);
  const named = [...Map.groupBy(waiting, ({ by }) => by)].sort(([, a], [, b]) => longest(b) - longest(a));
  return [
    `${waiting.length} of ${counted(all.length, 'job')} waited for the budget, with ${counted(calls.length, 'call')}.`,
    ...named
      .slice(0, MOST_NAMED)
      .map(([by, own]) => `  ${oneLine(by)}: ${counted(own.length, 'job')}, up to ${elapsed(longest(own))}`),
    ...(usedUp.size === 0 ? ['The calls of the day were never used up.'] : []),
    ...from.map((at, index) => {
      const period = `${localTime(at)} and ${localTime((until[index] ?? at) + HOUR_MS)}`;
      return `The calls of the day were used up between ${period}, and jobs waited for them.`;
    }),
    '  the hour from             jobs  calls  people waited  others waited  day used up',
    ...hours.map((hour) => {
      const jobs = jobsAt.get(hour) ?? [];
      const counts = [jobs.length, callsAt.get(hour)?.length ?? 0].map((count) => String(count).padStart(7));
      const waits = [true, false].map((of) => longest(jobs.filter((one) => one.isOfPeople === of)));
      const shown = waits.map((ms) => (ms === 0 ? '–' : elapsed(ms)).padStart(15));
      return ['  ', localTime(hour).padEnd(23), ...counts, ...shown, usedUp.has(hour) ? '          yes' : ''].join('');
    }),
  ];
}

const longest = (some: readonly { waitedMs: number }[]) => Math.max(0, ...some.map(({ waitedMs }) => waitedMs));
const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS;
const hoursBetween = (from: number, until: number) =>
  Array.from({ length: (hourOf(until) - hourOf(from)) / HOUR_MS + 1 }, (_, index) => hourOf(from) + index * HOUR_MS);
