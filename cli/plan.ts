import { readFileSync } from 'node:fs';
import { readOwnAutomations } from '../lib/automations/own/folder.ts';
import { ONE_MACHINE } from '../lib/config/environment.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { createLinks } from '../lib/links/links.ts';
import { summarizePlans } from '../lib/operators/issue-plan.ts';
import { createDeliveryPlanner, type DeliveryPlanner, type PlannedDelivery } from '../lib/operators/plan-deliveries.ts';
import { planOwn } from '../lib/operators/plan-own.ts';
import type { Stores } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { counted, messageOf } from '../lib/text.ts';
import { type OwnAutomations, ownOf } from '../lib/triggers/own-automation.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { readCount } from './numbers.ts';
import { planInWords, whenDone } from './plan-words.ts';
import { printJson } from './print.ts';

/** `plan`: what deliveries would do under relay.config.ts as it is in this folder. */
export const definePlan: Define = (command, { open, readConfig }) =>
  command
    .arguments('[payloads...]')
    .description(
      'show what GitHub deliveries would do under the relay.config.ts in this folder, without sending anything; ' +
        'without payload files, an event of each issue that the newest jobs are about',
    )
    .option('--event <event>', 'the event of the payload files', 'issues')
    .option('--jobs <count>', 'without files: look at so many of the newest jobs', readCount, 200)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
  npm run -s relay -- plan
  npm run -s relay -- plan delivery-1.json delivery-2.json --event issues
  npm run -s relay -- --stage prod plan`,
    )
    .action(async (files: string[], options: { event: string; jobs: number; json?: boolean }) => {
      const { stores, stage = ONE_MACHINE } = await open();
      const config = await readConfig();
      const { own, faults } = await readOwnAutomations(config);
      const planner = plannerOf(config, own, stores);
      const planned: PlannedDelivery[] = [];
      for (const file of files) {
        planned.push(...(await planner.given({ event: options.event, deliveryId: file, payload: readPayload(file) })));
      }
      if (files.length === 0) planned.push(...(await planner.stored(options.jobs)));
      if (options.json) return printJson(planned);
      for (const one of planned) console.log(`${oneLine(one.summary)}\n  → ${plannedInWords(one)}`);
      if (planned.length === 0) console.log('There are no jobs of issues. Name files with payloads instead.');
      for (const sum of await sumsInWords(planned, config, stores)) console.log(`\n${sum}`);
      for (const line of await ownInWords(own, config, stores, stage)) console.log(oneLine(line));
      for (const fault of faults) console.log(`! ${oneLine(fault)}`);
      console.log('\nNothing was sent.');
    });

/** Foresees what deliveries do under a configuration, with what the relay has stored. */
export function plannerOf(config: RelayConfig, own: OwnAutomations, { table, jobs, clock }: Stores): DeliveryPlanner {
  const journal = (jobId: string) => openJournal(table, jobId, Date.now);
  return createDeliveryPlanner(config, { own, links: createLinks(table, clock), jobs, journal });
}

/** For each connection that is called: how many calls it needs, and until when they are done. */
export async function sumsInWords(
  planned: readonly PlannedDelivery[],
  config: RelayConfig,
  { table, jobs }: Stores,
): Promise<string[]> {
  const budget = createBudget({ table });
  const ofConnections = Map.groupBy(
    planned.filter((one) => 'plan' in one),
    ({ connection }) => connection,
  );
  const sums = [...ofConnections].map(async ([connection, own]) => {
    const plans = own.flatMap(({ plan }) => plan ?? []);
    const { created, updated, calls } = summarizePlans(plans);
    const open = own.length - plans.length;
    const more = open === 0 ? '' : `, and one call or more for each of ${counted(open, 'other job')}`;
    const done = await whenDone(connection, calls + open, 'background', { budget, jobs, config });
    return `${connection}: ${counted(calls, 'call')} (${created} to create, ${updated} to update)${more}; ${done}`;
  });
  return Promise.all(sums);
}

/** What the automations in the folder would do with the jobs under way. Only what differs has a line for each job. */
export async function ownInWords(
  own: OwnAutomations,
  config: RelayConfig,
  stores: Stores,
  stage: string,
): Promise<string[]> {
  const { jobs, removed, unused, calls } = await planOwn(own, config, stores, stage);
  const others = jobs.filter(({ becomes }) => becomes !== 'the same');
  if (own.list.length + removed.length === 0) return [];
  const hooks = ownOf(own, 'webhook').map(({ name }) => name);
  const events = new Set(ownOf(own, 'github').flatMap(({ events }) => events));
  return [
    '',
    `automations/: ${counted(jobs.length, 'job')} under way, ${jobs.length - others.length} as before`,
    ...others.map(({ id, summary, becomes, says }) => `${becomes === 'other' ? '!' : '?'} ${summary} (${id}) ${says}`),
    ...removed.map((name) => `! ${name} has jobs under way and no file: they wait for it, and then park`),
    ...unused.map(
      (name) => `+ ${name} has made no job that the relay still has, so it is new, renamed, or was not needed`,
    ),
    ...[...calls].map(([name, most]) => `${name}: ${counted(most, 'call')} for an event at most, by its newest jobs`),
    ...(events.size > 0 ? [`GitHub must send ${[...events].join(', ')}`] : []),
    ...(hooks.length > 0 ? [`Webhooks need secrets: ${hooks.map((name) => `hooks/${name}`).join(', ')}`] : []),
    ...(events.size + hooks.length > 0 ? ['Whether they are there, relay doctor asks GitHub and AWS.'] : []),
    'What is deployed is not compared: only jobs tell of it.',
  ];
}

/** What a delivery would lead to, in one line. */
export function plannedInWords(one: PlannedDelivery): string {
  if ('ignored' in one) return `ignored: ${oneLine(one.ignored)}`;
  return one.plan ? planInWords(one.plan) : `${one.automation}: one call or more, by what the service answers`;
}

/** @throws {Error} if the file is not a JSON object */
function readPayload(file: string): Record<string, unknown> {
  let payload: unknown;
  try {
    payload = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw new Error(`${file} is not a JSON object; expected the payload of a delivery as GitHub sent it`);
  }
  return payload as Record<string, unknown>;
}
