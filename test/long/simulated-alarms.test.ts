import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { alarmsOf, everyAlarm } from '../simulation/alarms.ts';
import type { Arrival } from '../simulation/arrivals.ts';
import type { Sender } from '../simulation/events.ts';
import { simulate, type Workload } from '../simulation/simulation.ts';
import { atRandom, backlog, calm, HOUR, longBacklog, MINUTE, noWorker } from '../simulation/workloads.ts';

/** This many events a minute of each kind, for ten minutes. */
function sentBy(from: Sender, perMinute: number): Arrival[] {
  const lanes = ['interactive', 'background'] as const;
  const arrivals = lanes.flatMap((lane) => atRandom(lane, perMinute, { untilMs: 10 * MINUTE, seed: 2 }));
  return arrivals.map((one) => ({ ...one, from }));
}

const quarter = calm(15 * MINUTE);
const half = calm(30 * MINUTE);
const defects = { connection: 'main', operation: 'defects/create' };

/** States, each with exactly the alarms that it causes. */
const states: Record<string, { load: Workload; alarms: string[] }> = {
  'nothing is wrong': { load: calm(HOUR), alarms: [] },
  'the worker does not run': {
    load: noWorker(1),
    alarms: ['background-oldest-message', 'interactive-oldest-message', 'overdue-jobs', 'queued-jobs'],
  },
  'an event source is disabled': {
    load: { ...half, workers: { interactive: 0, background: 5 } },
    alarms: ['interactive-oldest-message', 'overdue-jobs', 'queued-jobs'],
  },
  'the schedule of the sweep is off': { load: { ...quarter, withoutSweep: true }, alarms: ['heartbeat'] },
  'the table is throttled': {
    load: { ...half, aws: { trouble: 'throttled', fromMs: 5 * MINUTE, untilMs: 15 * MINUTE } },
    alarms: [
      'github-webhook-5xx',
      'heartbeat',
      'slack-webhook-5xx',
      'table-throttles-GetItem',
      'table-throttles-PutItem',
      'table-throttles-Query',
    ],
  },
  // People in Slack read it in an answer with 200.
  'AWS does not answer for ten minutes': {
    load: { ...half, aws: { trouble: 'silent', fromMs: 5 * MINUTE, untilMs: 15 * MINUTE } },
    alarms: ['github-webhook-5xx', 'heartbeat'],
  },
  // On AWS, the queues deliver no message either, so none becomes a dead letter.
  'the key of the stage is denied, with work in the queues': {
    load: {
      ...calm(3 * HOUR),
      arrivals: [...backlog(300), ...atRandom('interactive', 60, { untilMs: 2 * MINUTE, seed: 2 }), ...half.arrivals],
      aws: { trouble: 'denied', fromMs: MINUTE, untilMs: 3 * HOUR },
    },
    alarms: [
      'background-oldest-message',
      'github-webhook-5xx',
      'heartbeat',
      'interactive-oldest-message',
      'job-worker-errors',
      'slack-webhook-5xx',
    ],
  },
  'forged requests flood the webhooks': {
    load: { ...quarter, arrivals: [...quarter.arrivals, ...sentBy('forger', 150)] },
    alarms: ['github-webhook-4xx', 'slack-webhook-4xx'],
  },
  'a scan meets the webhooks': {
    load: { ...quarter, arrivals: [...quarter.arrivals, ...sentBy('forger', 60)] },
    alarms: [],
  },
  'the service refuses the key': {
    load: { ...half, refusesKeys: true },
    alarms: ['connection-paused', 'credentials-refused'],
  },
  'the service is down': {
    load: { ...half, down: { fromMs: 5 * MINUTE, untilMs: 20 * MINUTE } },
    alarms: ['connection-paused'],
  },
  'an operation fails': { load: { ...half, failing: defects }, alarms: ['operations-stopped'] },
  'an operation refuses what it is sent': {
    load: { ...quarter, failing: { ...defects, status: 422 } },
    alarms: ['parked-jobs'],
  },
  "the day's calls run out": {
    load: { ...half, limits: { perMinute: 120, perDay: 100 } },
    alarms: ['day-budget'],
  },
  'strangers use up their share': {
    load: { ...half, limits: { perMinute: 120, perDay: 400 }, arrivals: sentBy('stranger', 5) },
    alarms: ['strangers-wait'],
  },
  'Lambda takes a backlog for a loop': { load: longBacklog(true, 1), alarms: ['dead-letters'] },
};

it.each(Object.entries(states))('%s: the alarms', async (_, { load, alarms }) => {
  const result = await simulate(load);
  expect(alarmsOf(result, load.runsMs)).toEqual(alarms);
});

/** Metrics of functions that are not in the simulation, with the tests that check their values. */
const seenBy: Record<string, string> = {
  'credential-check-github': 'credential-check',
  'credential-check-partner': 'credential-check',
  'credential-check-slack': 'credential-check',
  'deliveries-given-up': 'github-redelivery',
  'hooks-refused': 'github-redelivery',
};

it('every alarm goes off in a state above or in a test, or docs/emulator.md says that only AWS can show it', () => {
  for (const name of Object.values(seenBy)) {
    expect(existsSync(new URL(`../functions/${name}.test.ts`, import.meta.url))).toBe(true);
  }
  const page = readFileSync(new URL('../../docs/emulator.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Alarms that only AWS can show');
  const named = [...section.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  const onAws = named.map(([, name = '']) => new RegExp(`^${name.replaceAll(/<\w+>/g, '[\\w-]+')}$`));
  const shown = new Set([...Object.values(states).flatMap(({ alarms }) => alarms), ...Object.keys(seenBy)]);
  const left = everyAlarm.filter((name) => !shown.has(name) && !onAws.some((pattern) => pattern.test(name)));
  expect(left).toEqual([]);
});
