import { CUSTOM_FOLDER, readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { tooFewWorkers } from '../lib/config/capacity.ts';
import { ONE_MACHINE } from '../lib/config/environment.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { openJournal } from '../lib/engine/record/journal.ts';
import { createLinks } from '../lib/links/links.ts';
import { summarizePlans } from '../lib/operators/issue-plan.ts';
import { type PlannedEvent, planIssues } from '../lib/operators/plan-issues.ts';
import { planJobs } from '../lib/operators/plan-jobs.ts';
import type { Stores } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { versionFault } from '../lib/state/table/versions.ts';
import { counted } from '../lib/text.ts';
import { type CustomAutomations, customOf } from '../lib/triggers/custom-automation.ts';
import { VERSION } from '../lib/version.ts';
import { oneLine } from '../local/terminal.ts';
import type { Define } from './cli.ts';
import { printWarnings } from './custom-folder.ts';
import { readCount } from './numbers.ts';
import { inProcess } from './own-runs.ts';
import { planInWords, whenDone } from './plan-words.ts';
import { printJson } from './print.ts';

/** `plan`: what events of issues would do with this folder's relay.config.ts. */
export const define: Define = (command, { open, readConfig, customFolder = CUSTOM_FOLDER }) =>
  command
    .description(
      'take the issues of the newest jobs, and show what an event of each would do under the relay.config.ts here, ' +
        'without sending anything',
    )
    .option('--jobs <count>', 'look at this many of the newest jobs', readCount, PLANNED_JOBS)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
  npx partner-relay plan
  npx partner-relay --stage prod plan`,
    )
    .action(async (options: { jobs: number; json?: boolean }) => {
      const { stores, stage = ONE_MACHINE, wrote } = await open();
      const fault = versionFault(wrote, VERSION);
      if (fault !== undefined) throw new Error(`the stage ${stage}: ${fault}`);
      const config = await readConfig();
      const { custom, faults, files } = await readCustomAutomations(config, customFolder);
      const planned = await planStored(config, stores, options.jobs);
      if (options.json) return printJson(planned);
      for (const { summary, plan } of planned) console.log(`${oneLine(summary)}\n  → ${planInWords(plan)}`);
      if (planned.length === 0) console.log('There are no jobs of issues.');
      for (const sum of await sumsInWords(planned, config, stores)) console.log(`\n${sum}`);
      const runs = inProcess(custom, customFolder);
      const lines = await jobsInWords(runs.own, config, stores, stage).finally(runs.close);
      for (const line of lines) console.log(oneLine(line));
      const few = tooFewWorkers(config, config.deployment.stages[stage]);
      if (few) console.log(`\n! Background workers: ${few}.`);
      for (const fault of faults) console.log(`! ${oneLine(fault)}`);
      await printWarnings({ files });
      console.log('\nNothing was sent.');
    });

export const PLANNED_JOBS = 200;

export function planStored(config: RelayConfig, { table, jobs, clock }: Stores, most = PLANNED_JOBS) {
  const journal = (jobId: string) => openJournal(table, jobId, clock);
  return planIssues(config, { links: createLinks(table, clock), jobs, journal }, most);
}

/** Says for each connection how many calls it needs, and until when they are done. */
export async function sumsInWords(
  planned: readonly PlannedEvent[],
  config: RelayConfig,
  { table, jobs }: Stores,
): Promise<string[]> {
  const budget = createBudget({ table });
  const ofConnections = Map.groupBy(planned, ({ connection }) => connection);
  const sums = [...ofConnections].map(async ([connection, own]) => {
    const { created, updated, calls } = summarizePlans(own.map(({ plan }) => plan));
    const done = await whenDone(connection, calls, 'background', { budget, jobs, config });
    return `${connection}: ${counted(calls, 'call')} (${created} to create, ${updated} to update); ${done}`;
  });
  return Promise.all(sums);
}

/**
 * Says what this version, with the automations in the folder, would do with the jobs under way. Only jobs with a
 * difference get a line of their own.
 */
export async function jobsInWords(
  custom: CustomAutomations,
  config: RelayConfig,
  stores: Stores,
  stage: string,
): Promise<string[]> {
  const { jobs, unused, calls } = await planJobs(custom, config, stores, stage);
  const others = jobs.filter(({ becomes }) => becomes !== 'the same');
  const same = jobs.length - others.length;
  if (jobs.length + custom.list.length === 0) return [];
  const hooks = customOf(custom, 'webhook').map(({ name }) => name);
  const events = new Set(customOf(custom, 'github').flatMap(({ events }) => events));
  const unchecked = [
    ...(events.size > 0 ? [`the events that GitHub sends (${[...events].join(', ')})`] : []),
    ...(hooks.length > 0 ? [`the secrets of webhooks (${hooks.map((name) => `hooks/${name}`).join(', ')})`] : []),
  ];
  return [
    '',
    `${counted(jobs.length, 'unfinished job')}; ${same} would continue unchanged`,
    ...others.map(({ id, summary, becomes, says }) => `${becomes === 'other' ? '!' : '?'} ${summary} (${id}) ${says}`),
    ...unused.map((name) => `+ ${name} has no jobs yet: it is new, was renamed, or nothing has started it`),
    ...[...calls].map(
      ([name, most]) => `${name}: at most ${counted(most, 'call')} for each event, as its newest jobs show`,
    ),
    ...(unchecked.length > 0
      ? [
          `Not checked here: ${unchecked.join('; ')}`,
          `npx partner-relay ${stage === ONE_MACHINE ? '' : `--stage ${stage} `}doctor checks the secrets and, for a GitHub App, the events.`,
        ]
      : []),
    ...(custom.list.length > 0 && stage !== ONE_MACHINE
      ? ['This compares automations/ with the jobs, not with the deployed code.']
      : []),
  ];
}
