import { isOutcomeUnknown } from '../../lib/engine/record/job.ts';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { exampleConfig, withLimits } from '../relay.ts';
import { everyWay, type Way } from '../ways.ts';
import { changesAws } from './aws-effects.ts';
import { judge } from './judge.ts';
import { startKillableRelay } from './killable-relay.ts';
import { COLLABORATOR, OTHER_REPOSITORY, type Row, saidIn, TESTS } from './rows.ts';
import type { Effect, Incoming, Recovery, Stop, Trial, TrialResult } from './trial.ts';

/** Other answers to a resend. */
const refused: readonly Way[] = [
  '401 signature',
  '401 timestamp',
  '401 nonce',
  '401 key',
  '401',
  '403 scope',
  '404',
  '422',
  '429 for 20 s',
];

/** The fate of a creation's first sends: nothing, one is lost, or one is lost and the next is refused. */
export const faults: readonly (readonly Way[])[] = [
  ['as it is'],
  ['answer lost'],
  ['500 before the work'],
  ['500 after the work'],
  ['lost on the way'],
  ['answer slow'],
  ['passed on after 15 s'],
  ...refused.map((answer) => ['answer lost', answer] as const),
];

/** docs/exactly-once.md says what follows from these, and they show before the trial ends. */
const known = everyWay.filter(
  (way) => !/^(hostile|not connected|answered|passed on (twice|after [24])|429 for 9)/.test(way),
);

/** Every answer to a first send, and every refusal of the next send after the most different ways to lose the first. */
export const everyFault: readonly (readonly Way[])[] = [
  ...known.map((one) => [one]),
  ...(['answer lost', '500 before the work', 'lost on the way', 'passed on after 15 s'] as const).flatMap((one) =>
    refused.map((answer) => [one, answer]),
  ),
];

export const recoveries: readonly Recovery[] = [
  { sweeps: 'last', redelivers: 'at once' },
  { sweeps: 'last', redelivers: 'late' },
  { sweeps: 'always', redelivers: 'late' },
  { sweeps: 'last', redelivers: 'at once' },
  { sweeps: 'always', redelivers: 'at once' },
];

/** The totals of a number of trials. */
export class Tally {
  points = 0;
  trials = 0;
  succeeded = 0;
  /** Commands that a person typed again. */
  typedAgain = 0;
  readonly violations: string[] = [];
  readonly #parked = new Map<string, number>();

  add({ jobs, typed }: TrialResult): void {
    const parked = jobs
      .filter(({ status }) => status === 'parked')
      .map((job) => (isOutcomeUnknown(job) ? 'outcome unknown' : 'clearly refused'));
    this.trials += 1;
    if (parked.length === 0) this.succeeded += 1;
    this.typedAgain += Math.max(0, typed.length - 1);
    for (const why of new Set(parked)) this.#parked.set(why, (this.#parked.get(why) ?? 0) + 1);
  }

  toString(): string {
    const parked = [...this.#parked].map(([why, times]) => `${times} ${why}`).join(', ') || 'none';
    const typed = this.typedAgain > 0 ? `; ${this.typedAgain} commands typed again` : '';
    return `${this.trials} trials at ${this.points} points: ${this.succeeded} succeeded; parked: ${parked}${typed}`;
  }
}

/** Makes trials in turn on one relay and sandbox. Each trial has its own issue or person. */
export async function startTrials(
  sandboxOptions: SandboxOptions,
  tally: Tally,
  { commands }: Pick<Row, 'commands'> = {},
) {
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const connection = commands && { mcp: { accounts: 'offered' as const, commands: commands() } };
  const mcp = { enabled: true, rateLimit: limits, toolsPerPage: 100 };
  const relay = await startKillableRelay(
    ({ github, slack }) =>
      withLimits(
        exampleConfig(
          {},
          {
            apiUrl: github,
            ...(connection && { connection }),
            also: [OTHER_REPOSITORY],
            checkPullRequest: {},
            tests: TESTS,
            slack: { apiUrl: slack },
            people: [COLLABORATOR],
          },
        ),
        limits,
      ),
    { ...sandboxOptions, ...(commands && { mcp }) },
  );
  let id = 0;

  const trials = {
    /** @returns the relay's side effects */
    async try(trial: Trial<Row>): Promise<readonly Effect[]> {
      const { row, answers, stops = [], isRepeated, recovery } = trial;
      id += 1;
      const incoming = row.incoming(id);
      await row.prepare?.(relay, id);
      const result = await relay.try(trial, isRepeated ? [...incoming, ...incoming.map(withMore)] : incoming);
      const there = {
        events: incoming.filter(({ from }) => from !== 'slack command').length,
        made: await row.made(relay, id),
        readBack: await row.readBack?.(relay),
        said: saidIn(relay, id),
      };
      const violations = await judge({ comesBack: false, ...trial, stops, result, ...there });
      tally.add(result);
      const { nonceMoment = 'default', checkOrder = ['default'] } = sandboxOptions;
      const about = [
        row.what,
        answers.join(', '),
        stops.map(({ at, when }) => `${when} ${at}: ${result.effects[at]?.by} ${result.effects[at]?.what}`).join(', '),
        JSON.stringify(recovery),
        checkOrder.join(' '),
        nonceMoment,
      ];
      tally.violations.push(...violations.map((violation) => `${violation} [${about.join('; ')}]`));
      return result.effects;
    },
    /** Makes a trial for each of the stops, with the ways to recover in turn. */
    async tryEach(
      trial: Omit<Trial<Row>, 'stops' | 'recovery'>,
      stops: readonly (Stop | readonly Stop[])[],
    ): Promise<void> {
      tally.points += stops.length;
      for (const [turn, stop] of stops.entries()) {
        await trials.try({ ...trial, stops: [stop].flat(), recovery: recoveries[turn % recoveries.length] });
      }
    },
    close: () => relay.close(),
  };
  return trials;
}

/** Adds a field to the event. A job's id comes from what happened, so it stays the same. */
function withMore(incoming: Incoming): Incoming {
  return incoming.from === 'github'
    ? { ...incoming, payload: { ...incoming.payload, enterprise: { id: 1 } } }
    : incoming;
}

/**
 * Every moment at which a kill leaves a different state. Before a side effect is the same as after the previous one,
 * except in a webhook, which has several under way at once.
 */
export function killsAt(effects: readonly Effect[]): Stop[] {
  return stopsAt(effects).filter(({ at, when }) => when === 'after' || effects[at]?.by.endsWith('-webhook'));
}

/** Before and after every side effect. */
export function stopsAt(effects: readonly Effect[]): Stop[] {
  return effects.flatMap((_, at) => (['before', 'after'] as const).map((when) => ({ at, when })));
}

/** Each kill, and another one soon after. */
export function twice(effects: readonly Effect[]): Stop[][] {
  return killsAt(effects).map((stop, turn) => [
    stop,
    { at: stop.at + 1 + (turn % 5), when: turn % 3 === 0 ? 'after' : 'before' },
  ]);
}

/** Every request to AWS that changes something, carried out but not answered. */
export function silencesOf(effects: readonly Effect[]): Stop[] {
  return effects.flatMap(({ what }, at) => (changesAws(what) ? [{ at, when: 'silent' as const }] : []));
}

/** Every side effect of a webhook, refused by AWS. */
export function refusalsOf(effects: readonly Effect[]): Stop[] {
  return effects.flatMap(({ by }, at) => (by.endsWith('-webhook') ? [{ at, when: 'refused' as const }] : []));
}
