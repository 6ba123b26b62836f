import { writeFileSync } from 'node:fs';
import { quantile } from '../test/service/budget/figures.ts';
import { countings, ServiceModel } from '../test/service/budget/service-model.ts';
import { simulate } from '../test/simulation/simulation.ts';
import { backlogWithPeople, MINUTE, SECOND } from '../test/simulation/workloads.ts';
import { type Calls, runThroughPeer, START } from './budget-peer.ts';
import { trailingMinutePlot } from './budget-plot.ts';
import { amount, type Figure, type Options } from './figure.ts';
import { installPeers } from './peers.ts';

const MINUTES = 10;
const BACKGROUND_WORKERS = 45;
const SEED = 1;

/**
 * Compares the budget with `rate-limiter-flexible` under the same work: a backlog, people, and a service that counts.
 */
export async function* measureBudget({ write, isTrial }: Options): AsyncGenerator<Figure> {
  if (!isTrial) await installPeers();
  const load = backlogWithPeople('sliding', BACKGROUND_WORKERS, isTrial ? MINUTE / 2 : MINUTES * MINUTE, SEED);
  const { perMinute } = load.limits;
  const here = await simulate(load);
  const peer = isTrial ? here.calls : await runThroughPeer(load);
  const figure = (about: Pick<Figure, 'name' | 'unit' | 'aim'>, of: (calls: Calls) => number): Figure => {
    return { ...about, value: of(here.calls), detail: `rate-limiter-flexible: ${amount(of(peer), about.unit)}` };
  };

  yield figure({ name: 'used of the limit', unit: '%', aim: { atLeast: 95 } }, ({ length }) => {
    return (100 * length) / (MINUTES * perMinute);
  });
  for (const counting of countings) {
    yield figure({ name: `429s, ${counting} windows`, aim: { atMost: 0 } }, (calls) => {
      const service = new ServiceModel(counting, [{ lengthMs: MINUTE, most: perMinute }]);
      return countedAt(calls).filter((at) => !service.request(START + at)).length;
    });
  }
  yield figure({ name: 'wait of people, median', unit: 's' }, (calls) => waitOfPeople(calls, 0.5));
  yield figure({ name: 'wait of people, 99%', unit: 's', aim: { atMost: 2 } }, (calls) => waitOfPeople(calls, 0.99));

  if (!write) return;
  const lines = [
    { name: 'rate-limiter-flexible', colour: '#d98200', countedAt: countedAt(peer) },
    { name: 'Partner Relay', colour: '#0057b8', countedAt: countedAt(here.calls) },
  ];
  writeFileSync(new URL('../docs/budget.svg', import.meta.url), trailingMinutePlot(lines, MINUTES, perMinute));
}

function countedAt(calls: Calls): number[] {
  return calls.flatMap((call) => call.countedAt ?? []).sort((a, b) => a - b);
}

/** Returns the seconds from a command to its call, at the given quantile of the commands. */
function waitOfPeople(calls: Calls, part: number): number {
  const ofPeople = calls.filter(({ lane }) => lane === 'interactive');
  const waitsMs = ofPeople.map(({ sentAt, wantedAt }) => sentAt - wantedAt);
  return quantile(waitsMs, part) / SECOND;
}
