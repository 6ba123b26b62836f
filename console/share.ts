import { isOurs } from '../lib/automations/custom/folder.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { VERSION } from '../lib/version.ts';
import { jobDetail } from './job.ts';
import type { OperatedRelay } from './relay.ts';

/**
 * The history of a job, for support: its states, times, answers and numbers. It has no texts, no names and ids of
 * people, issues, connections and of the service, and not the names that a team gave its automation, its steps and its
 * fields.
 *
 * @throws {HttpError} if there is no such job
 */
export async function shareJob(relay: OperatedRelay, id: string) {
  const job = await jobDetail(relay, id);
  const stepNumber = new Map(job.steps.map(({ step }, index) => [step, index + 1]));
  const numberOf = (step: string | undefined) => (step === undefined ? undefined : stepNumber.get(step));
  // The team may have removed the automation since.
  const ours = isOurs(job.automation);
  const { status, lane, attempts, generation, createdAt, finishedAt, personMs } = job;
  const { discarded, outcomeUnknown, keyRefused, until, isForecast } = job;
  return {
    what: 'What happened to one job of Partner Relay, without texts',
    relay: VERSION,
    node: process.version,
    job: job.shortName,
    automation: ours ? job.automation : 'one of the team',
    ...{ status, lane, attempts, generation, createdAt, finishedAt, personMs, until, isForecast },
    ...{ discarded, outcomeUnknown, keyRefused },
    cause: job.cause && { from: job.cause.from, event: job.cause.event },
    steps: job.steps.map(({ step, calls, status, startedAt, finishedAt, sends, olderSends, settledBy, result }) => ({
      ...{ step: numberOf(step), calls: callsOf(calls, ours), status, startedAt, finishedAt, olderSends },
      settled: settledBy !== undefined,
      sends: sends.map(({ why, calls, ...send }) => ({ ...(calls && { calls: callsOf(calls, ours) }), ...send })),
      result: shapeOf(result, ours),
    })),
    periods: job.periods.map(({ step, from, to, is }) => ({ step: numberOf(step), from, to, is })),
    decisions: job.decisions.map(({ at, what }) => ({ at, what: what.split(/[\s:]/)[0] })),
    openCreations: job.openCreations.map(({ step, calls, again }) => ({
      ...{ step: numberOf(step), calls: callsOf(calls, ours), again },
    })),
    input: shapeOf(job.input, ours),
  };
}

/** Names what a step calls, without a team's names of tools and paths, and without repositories in GitHub's paths. */
function callsOf(calls: string, ours: boolean): string {
  if (operations.has(calls)) return calls;
  const [known] = /^((GitHub|Slack) [\w.]+|(reading )?tool )/.exec(calls) ?? [];
  return known?.trim() ?? (ours ? calls : 'other');
}

/** Keys of another form, such as addresses, may name people. */
const FIELD = /^[a-z]+([A-Z_]\w*)?$/;

/** The kinds of a value's fields, with the fields' names if they are ours. */
function shapeOf(value: unknown, ours: boolean): unknown {
  if (typeof value === 'string') return `text of ${value.length}`;
  if (Array.isArray(value)) return [`${value.length} of`, shapeOf(value[0], ours)];
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? 'number' : value;
  const fields = Object.entries(value).map(([name, entry], index) => {
    return [ours && FIELD.test(name) ? name : `field ${index + 1}`, shapeOf(entry, ours)];
  });
  return Object.fromEntries(fields);
}
