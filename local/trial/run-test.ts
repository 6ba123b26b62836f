import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { MINUTE_MS } from '../../lib/dates.ts';
import { newsOf, statusInWords } from '../../lib/engine/record/job.ts';
import { meantName } from '../../lib/faults/fault.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { cutToLength } from '../../lib/text.ts';
import type { CustomAutomations } from '../../lib/triggers/custom-automation.ts';
import type { Data } from '../../sandbox/records.ts';
import { exampleEvent } from '../examples/github-event.ts';
import { renderMessage } from '../slack/render.ts';
import type { ExpectedCalls, ExpectedFields, RelayTest, TestEvent } from './define-tests.ts';
import { refuseUnusable } from './test-shape.ts';
import { type Given, startTrialRelay, type TrialCall, type TrialRelay, type TrialWorld } from './trial-relay.ts';
import type { TrialStep, Trouble } from './trouble.ts';

/** A Monday, when the examples happen, so that a test has the same result every day. */
const MONDAY = Date.parse('2026-01-05T10:00:00Z');
const EXAMPLE_NUMBER = 100_001;
/** Longer than the relay combines changes of an issue, and longer than it waits after failures. */
const LONGEST_WAIT_MS = 86_400_000;
const LONGEST_SHOWN = 80;

/** A request that a test expects. */
type WantedRequest = { operation: string; payload: ExpectedFields };

/**
 * Runs a test in its own relay. If it passes, and the team's automations made a job, it repeats the event with trouble
 * at the steps of these jobs: killed after a step, and with the answer to its request lost.
 *
 * @param folder of the file with the test
 * @returns the differences, as lines for a person; empty if the test passes
 * @throws {Error} if the test itself is faulty
 */
export async function runTest(
  test: RelayTest,
  config: RelayConfig,
  folder: string,
  custom: CustomAutomations,
): Promise<string[]> {
  refuseUnusable(test);
  const { given: world = {}, before = [], event, answers = {} } = test;
  const start = test.at === undefined ? MONDAY : Date.parse(test.at);
  const events = [...before, event].map((one, index) => givenIn(one, start + index * MINUTE_MS, config, folder));
  const expected = wantedIn(test);
  const inTrial = <T>(trouble: Trouble, look: Look<T>) =>
    inRelay(events, { ...world, answers }, config, custom, trouble, look);
  const first = await inTrial({}, async (relay, why) => {
    const isParked = (await relay.jobs()).some(
      (job) => job.parked && custom.list.some(({ name }) => name === job.automation),
    );
    const lines = [
      ...(why !== undefined && test.makes !== 'nothing'
        ? ["expected a job; write makes: 'nothing' if there should be none"]
        : []),
      ...expected.differences(relay),
      ...relay.unasked().map((step) => `expected a question of the step '${step}'`),
      ...(isParked ? ['expected no parked job'] : []),
    ];
    return { lines: lines.length === 0 ? [] : [...lines, ...(await reasons(relay, why))], ...(await outcomeOf(relay)) };
  });
  if (first.lines.length > 0) return first.lines;
  for (const { what, at } of TROUBLES) {
    const run = (steps: readonly TrialStep[]) =>
      inTrial(at(steps), async (relay, why) => {
        const lines = changes(first, await outcomeOf(relay));
        return { met: relay.troublesMet, lines: lines.length === 0 ? [] : [...lines, ...(await reasons(relay, why))] };
      });
    // One run has trouble at all steps, so that a test stays fast. If a job parks, its further steps get another run.
    for (let left = first.steps; left.length > 0; ) {
      const { met, lines } = await run(left);
      if (lines.length > 0) return await atOneStep(what, left, lines, run);
      left = met.size === 0 ? [] : left.filter(({ place }) => !met.has(place));
    }
  }
  return [];
}

const TROUBLES = [
  {
    what: 'killed behind',
    at: (steps: readonly TrialStep[]): Trouble => ({ killedBehind: new Set(steps.map(({ place }) => place)) }),
  },
  {
    what: 'with the answer lost to',
    at: (steps: readonly TrialStep[]): Trouble => ({
      losesAnswerTo: new Map(steps.map(({ place, requests }) => [place, requests])),
    }),
  },
];

/** Finds the step that causes the difference. */
async function atOneStep(
  what: string,
  steps: readonly TrialStep[],
  ofAll: readonly string[],
  run: (steps: readonly TrialStep[]) => Promise<{ lines: readonly string[] }>,
): Promise<string[]> {
  for (const step of steps) {
    const { lines } = await run([step]);
    if (lines.length > 0) return [`${what} the step '${step.name}':`, ...lines];
  }
  return [`${what} each of its steps:`, ...ofAll];
}

/** Reads the result at the end. `why` says why the last event made no job; undefined if it made one. */
type Look<T> = (relay: TrialRelay, why: string | undefined) => Promise<T>;

async function inRelay<T>(
  events: readonly (Given & { at: number })[],
  world: TrialWorld,
  config: RelayConfig,
  custom: CustomAutomations,
  trouble: Trouble,
  look: Look<T>,
): Promise<T> {
  const relay = await startTrialRelay(config, events[0]?.at ?? MONDAY, custom, world, trouble);
  try {
    let why: string | undefined;
    for (const { at, ...given } of events) {
      const earlier = await relay.jobs();
      const answer = await relay.take(given, at).catch((error: Error) => {
        throw new Error(withClock(error.message));
      });
      await relay.work(LONGEST_WAIT_MS);
      why = (await relay.jobs()).length > earlier.length ? undefined : (answer ?? 'it is a repeat');
    }
    return await look(relay, why);
  } finally {
    await relay.close();
  }
}

function wantedIn({ makes, says = [], holds = {} }: RelayTest) {
  const wanted = makes === 'nothing' ? [] : Object.entries(makes).flatMap(wantedRequests);
  return {
    differences(relay: TrialRelay): string[] {
      const latest = relay.latest();
      const said = textsIn(latest);
      const unsaid = says.filter(
        (one) => !said.some(({ text }) => (one instanceof RegExp ? one.test(text) : text.includes(one))),
      );
      const forbidden = makes === 'nothing' ? latest.comments.map(({ body }) => withoutMarker(body)) : [];
      const changes = differences(wanted, latest.calls);
      return [
        ...(wanted.length === 0 && changes.length > 0 ? ['expected no change in the service'] : []),
        ...changes,
        ...(forbidden.length > 0 ? ['expected no comment'] : []),
        ...forbidden.map((text) => `came     a comment: ${text}`),
        ...unsaid.map((one) => `expected a message or a comment with ${shown(one)}`),
        ...(unsaid.length > 0 ? said.map(({ text }) => `came     a message or a comment: ${text}`) : []),
        ...Object.entries(holds).flatMap(([kind, records]) => otherRecords(kind as keyof Data, records, relay)),
      ];
    },
  };
}

/** What the team's automations did. The ids of new objects are left out, because they differ in each run. */
interface Outcome {
  steps: readonly TrialStep[];
  /** For each effect, how often it happened, and whether it may be repeated. */
  effects: ReadonlyMap<string, { times: number; mayRepeat: boolean }>;
  /** How the jobs ended. */
  endings: string[];
  isUnknown: boolean;
}

async function outcomeOf(relay: TrialRelay): Promise<Outcome> {
  const made = relay.calls.filter(({ operation, status }) => effectOf(operation) !== 'read' && status < 300);
  const effects = [
    ...made.map((call) => ({
      words: inWords(call, Number.POSITIVE_INFINITY),
      mayRepeat: effectOf(call.operation) === 'repeatable',
    })),
    ...textsIn(relay).flatMap(({ place, text }) =>
      TOLD_WAIT.test(text) ? [] : { words: `${place}: ${text}`, mayRepeat: false },
    ),
  ];
  const numbered = new Map<string, string>();
  const withoutIds = (text: string) =>
    text.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, (id) => {
      if (!numbered.has(id)) numbered.set(id, `<id ${numbered.size + 1}>`);
      return numbered.get(id) ?? '';
    });
  const counts = new Map<string, { times: number; mayRepeat: boolean }>();
  for (const { words, mayRepeat } of effects) {
    const key = withoutIds(words);
    counts.set(key, { times: (counts.get(key)?.times ?? 0) + 1, mayRepeat });
  }
  const jobs = await relay.jobs();
  return {
    steps: relay.steps,
    effects: counts,
    // Sorted, because other jobs of the event may end sooner or later.
    endings: jobs.map(({ automation, status }) => `${automation} ${status}`).sort(),
    isUnknown: jobs.some(({ parked }) => parked?.kind === 'outcome unknown'),
  };
}

/**
 * The differences from the run without trouble. If a creation's outcome stays unknown, a person decides, and effects
 * may be missing.
 */
function changes(first: Outcome, { effects, endings, isUnknown }: Outcome): string[] {
  const all = new Set([...first.effects.keys(), ...effects.keys()]);
  const lines = [...all].flatMap((words) => {
    const { times: before = 0, mayRepeat } = first.effects.get(words) ?? {};
    const { times: now = 0 } = effects.get(words) ?? {};
    if (now === before || (mayRepeat && now > before)) return [];
    if (now < before) return isUnknown ? [] : [`missing  ${cutToLength(words, LONGEST_SHOWN, '…')}`];
    return [`${before === 0 ? 'came    ' : 'doubled '} ${cutToLength(words, LONGEST_SHOWN, '…')}`];
  });
  const isSame = isUnknown || isDeepStrictEqual(first.endings, endings);
  return lines.length > 0 || isSame ? lines : [`ended    ${endings.join(', ')}`];
}

/** The texts that people can read in Slack and on GitHub. */
function textsIn({ messages, comments }: Pick<TrialRelay, 'messages' | 'comments'>): { place: string; text: string }[] {
  return [
    ...messages.map((one) => ({ place: `a message in ${one.channel}`, text: renderMessage(one) })),
    ...comments.map(({ issue, body }) => ({ place: `a comment on ${issue}`, text: withoutMarker(body) })),
  ];
}

/** After a lost answer, a job may wait so long that the relay notifies the person. */
const TOLD_WAIT = /^:hourglass: .* has to wait: /;
const withoutMarker = (body: string) => body.replaceAll(/\s*<!--.*?-->/g, '');
const effectOf = (name: string) => operations.get(name)?.effect;

function differences(wanted: readonly WantedRequest[], calls: readonly TrialCall[]): string[] {
  const came = calls.filter(({ operation }) => effectOf(operation) !== 'read');
  const missing = wanted.filter((request) => {
    const place = came.findIndex((one) => fits(one, request));
    if (place >= 0) came.splice(place, 1);
    return place < 0;
  });
  const others = came.map(
    (request) => `${cameBeside(wanted, missing)} ${inWords(request)}, answered with ${request.status}`,
  );
  return [...missing.map((request) => `expected ${inWords(request)}`), ...others];
}

/** The first word of what came and was not expected: in place of what is missing, or beside what was expected. */
const cameBeside = (wanted: readonly unknown[], missing: readonly unknown[]): string =>
  missing.length > 0 || wanted.length === 0 ? 'came    ' : 'came too';

/** The differences between the new records of a kind and the records that a test expects. */
function otherRecords(kind: keyof Data, wanted: readonly ExpectedFields[], { newRecords }: TrialRelay): string[] {
  const left: object[] = newRecords(kind);
  const missing = wanted.filter((one) => {
    const place = left.findIndex((record) => hasFields(record, one));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return [
    ...missing.map((one) => `expected ${inWords({ operation: `a new record of ${kind}`, payload: one })}`),
    ...left.map(
      (one) =>
        `${cameBeside(wanted, missing)} ${inWords({ operation: `a new record of ${kind}`, payload: { ...one } })}`,
    ),
  ];
}

/** Whether the request succeeded and is as expected. */
const fits = (came: TrialCall, { operation, payload }: WantedRequest) =>
  came.status < 300 && came.operation === operation && hasFields(came.payload, payload);

const hasFields = (given: object, wanted: ExpectedFields) =>
  Object.entries(wanted).every(([name, value]) => {
    const found: unknown = Object(given)[name];
    return value instanceof RegExp ? value.test(String(found)) : isDeepStrictEqual(found, value);
  });

/** `defects/create with title "…", priority "High"` */
function inWords({ operation, payload }: WantedRequest, longest = LONGEST_SHOWN): string {
  const values = Object.entries(payload).map(([name, value]) => `${name} ${cutToLength(shown(value), longest, '…')}`);
  return values.length === 0 ? operation : `${operation} with ${values.join(', ')}`;
}

const shown = (value: unknown) => (value instanceof RegExp ? String(value) : JSON.stringify(value));

/** Names the test's own clock, which often is the mistake. */
const withClock = (why: string) =>
  /and the clock is|29 days before/.test(why) ? `${why}. Set the clock of the test with at: '<time>'` : why;

async function reasons(relay: TrialRelay, whyNone: string | undefined): Promise<string[]> {
  const jobs = await relay.jobs();
  return [
    ...(whyNone === undefined ? [] : [`because  the event made no job: ${withClock(whyNone)}`]),
    ...jobs.map((job) => {
      const why = newsOf(job);
      const end = job.status === 'succeeded' ? 'succeeded' : `is ${statusInWords(job)}`;
      return `because  the job "${job.title ?? job.summary}" ${end}${why === '' ? '' : `: ${why}`}`;
    }),
  ];
}

/** Reads the expected requests. @throws {Error} for an unknown operation or field, which no request could match */
function wantedRequests([name, wanted]: [string, ExpectedCalls[keyof ExpectedCalls]]): WantedRequest[] {
  const declared = operations.get(name);
  if (!declared) throw new Error(`there is no operation '${name}'; ${meantName(name, [...operations.keys()])}`);
  const known = declared.payload instanceof z.ZodObject ? Object.keys(declared.payload.shape) : undefined;
  return [wanted ?? {}].flat().map((payload) => {
    const unknown = known && Object.keys(payload).find((field) => !known.includes(field));
    if (unknown === undefined) return { operation: name, payload };
    throw new Error(`${name} has no field '${unknown}'; ${meantName(unknown, known ?? [])}`);
  });
}

/**
 * Reads an event of a test.
 *
 * @param at when it happens, unless the event has its own time; epoch milliseconds
 * @returns the event and its time
 */
function givenIn(wanted: TestEvent, at: number, config: RelayConfig, folder: string): Given & { at: number } {
  if ('command' in wanted) return { by: 'U0MIRA001', channel: 'C0GENERAL', ...wanted, at };
  if ('hook' in wanted) return { ...wanted, at };
  if ('schedule' in wanted) return { schedule: wanted.schedule, at: Date.parse(wanted.at) };
  if ('file' in wanted) {
    const payload = JSON.parse(readFileSync(resolve(folder, wanted.file), 'utf8'));
    return { event: wanted.event, payload, at: afterEvent(payload) };
  }
  const repository = wanted.repository ?? config.github.repositories[0]?.name;
  const { event, payload } = exampleEvent({ ...wanted, repository }, at, EXAMPLE_NUMBER);
  return { event, payload, at: afterEvent(payload) };
}

/** A time after this event, at which the clock begins, because the relay ignores old events. */
function afterEvent(payload: object): number {
  const times = JSON.stringify(payload).matchAll(/"(?:\w+_at|timestamp)":(?:"([^"]+)"|(\d{10})\b)/g);
  const read = [...times].map(([, text = '', seconds]) => (seconds ? Number(seconds) * 1_000 : Date.parse(text)));
  return Math.max(...read.filter(Number.isFinite), 0) + 1_000;
}
