import { createRequire } from 'node:module';
import { jobDetail } from './job.ts';
import type { OperatedRelay } from './relay.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

/**
 * What happened to a job, for support: its states, times, answers and numbers. Texts, names and ids of people, issues,
 * connections and of the service are left out, and with them the names of a team's automations and steps.
 *
 * @throws {HttpError} if there is no such job
 */
export async function shareJob(relay: OperatedRelay, id: string) {
  const job = await jobDetail(relay, id);
  const stepNumber = new Map(job.steps.map(({ step }, index) => [step, index + 1]));
  const numberOf = (step: string | undefined) => (step === undefined ? undefined : stepNumber.get(step));
  const { status, lane, attempts, generation, createdAt, finishedAt, personMs } = job;
  const { discarded, outcomeUnknown, keyRefused, until, isForecast } = job;
  return {
    what: 'What happened to one job of Partner Relay, without texts',
    relay: version,
    node: process.version,
    job: job.shortName,
    automation: job.trigger === undefined ? job.automation : 'one of the team',
    ...{ status, lane, attempts, generation, createdAt, finishedAt, personMs, until, isForecast },
    ...{ discarded, outcomeUnknown, keyRefused },
    cause: job.cause && { from: job.cause.from, event: job.cause.event },
    steps: job.steps.map(({ step, calls, status, startedAt, finishedAt, sends, olderSends, settledBy, result }) => ({
      ...{ step: numberOf(step), calls, status, startedAt, finishedAt, olderSends },
      settled: settledBy !== undefined,
      sends: sends.map(({ why, ...send }) => send),
      result: shapeOf(result),
    })),
    periods: job.periods.map(({ step, from, to, is }) => ({ step: numberOf(step), from, to, is })),
    decisions: job.decisions.map(({ at, what }) => ({ at, what: what.split(/[\s:]/)[0] })),
    openCreations: job.openCreations.map(({ step, calls, again }) => ({ step: numberOf(step), calls, again })),
    input: shapeOf(job.input),
  };
}

/** Other names, such as addresses, may be those of people. */
const FIELD = /^[a-z]+([A-Z_]\w*)?$/;

/** The fields of a value and what kinds of values they have. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return `text of ${value.length}`;
  if (Array.isArray(value)) return [`${value.length} of`, shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? 'number' : value;
  const fields = Object.entries(value).map(([name, entry]) => [FIELD.test(name) ? name : 'other', shapeOf(entry)]);
  return Object.fromEntries(fields);
}
