import { writeFileSync } from 'node:fs';
import type { QueueName as Lane } from '../lib/engine/line/queue.ts';
import { quantile } from '../test/service/budget/figures.ts';
import { countings, ServiceModel } from '../test/service/budget/service-model.ts';
import { figuresOf } from '../test/simulation/figures.ts';
import { simulate, type Workload } from '../test/simulation/simulation.ts';
import { backlogWithPeople, DAY, MINUTE } from '../test/simulation/workloads.ts';
import { runThroughPeer } from './budget-peer.ts';
import { trailingMinutePlot } from './budget-plot.ts';
import type { Findings } from './figures.ts';
import { installPeers, peerVersion } from './peers.ts';

const MINUTES = 10;
const BACKGROUND_WORKERS = 45;
const SEED = 1;

/** The times of a call that are compared, in milliseconds since the start. */
interface Call {
  lane: Lane | 'backfill';
  wantedAt: number;
  sentAt: number;
  countedAt?: number;
}

/**
 * The budget and `RateLimiterDynamo` under the same work, in virtual time: a backlog, people, and a service that
 * counts. Their requests in the trailing minute become docs/budget.svg.
 */
export async function compareBudgets(): Promise<Findings> {
  await installPeers();
  const load = backlogWithPeople('sliding', BACKGROUND_WORKERS, MINUTES * MINUTE, SEED);
  const here = await simulate(load);
  const { budgetWritesPerCall, receivesPerCall } = figuresOf(here, load);
  const peer = await runThroughPeer(load);
  const plot = trailingMinutePlot(
    [
      { name: 'RateLimiterDynamo', colour: '#d98200', calls: peer.calls },
      { name: 'Partner Relay', colour: '#0057b8', calls: here.calls },
    ],
    MINUTES,
    load.limits.perMinute,
  );
  writeFileSync(new URL('../docs/budget.svg', import.meta.url), plot);

  const rows = [
    ...countings.map((counting) => [
      `429s, ${counting} windows`,
      ...[here, peer].map(({ calls }) => String(refusals(calls, counting, load))),
    ]),
    [
      'of the limit used',
      ...[here, peer].map(({ calls }) => `${((100 * calls.length) / (MINUTES * load.limits.perMinute)).toFixed(1)} %`),
    ],
    ['writes of the limiter per call', ...[budgetWritesPerCall, peer.writes / peer.calls.length].map(twoDigits)],
    ['messages received per call', ...[receivesPerCall, peer.receives / peer.calls.length].map(twoDigits)],
    ...[0.5, 0.95, 0.99].map((part) => [
      `wait of interactive calls, ${part * 100} %`,
      ...[here, peer].map(({ calls }) => `${(quantile(waits(calls), part) / 1_000).toFixed(2)} s`),
    ]),
    ['interactive calls sent', ...[here, peer].map(({ calls }) => String(waits(calls).length))],
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const table = rows.map(
    ([name = '', ours = '', theirs = '']) => `  ${name.padEnd(width)}  ${ours.padStart(10)}  ${theirs.padStart(10)}`,
  );
  return {
    figures: [],
    notes: [
      [
        `Budget: ${MINUTES} virtual minutes with a backlog of ${load.arrivals.length - interactiveJobs(load)} background calls and ${interactiveJobs(load)} interactive ones,`,
        `here and through RateLimiterDynamo of rate-limiter-flexible ${peerVersion('rate-limiter-flexible')} (docs/budget.svg):`,
        ...table,
      ].join('\n'),
    ],
  };
}

const twoDigits = (number: number) => number.toFixed(2);

/** The number of calls that a service refuses if it counts in this way. */
function refusals(calls: readonly Call[], counting: (typeof countings)[number], { limits }: Workload): number {
  const service = new ServiceModel(counting, [
    { lengthMs: MINUTE, most: limits.perMinute },
    { lengthMs: DAY, most: limits.perDay },
  ]);
  const times = calls.flatMap(({ countedAt }) => countedAt ?? []).sort((a, b) => a - b);
  return times.filter((at) => !service.request(at)).length;
}

function waits(calls: readonly Call[]): number[] {
  return calls.filter(({ lane }) => lane === 'interactive').map(({ sentAt, wantedAt }) => sentAt - wantedAt);
}

function interactiveJobs({ arrivals }: Workload): number {
  return arrivals.filter(({ lane }) => lane === 'interactive').length;
}
