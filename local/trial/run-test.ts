import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { statusInWords } from '../../lib/engine/record/job.ts';
import { meantName } from '../../lib/faults/unknown-name.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { exampleEvent } from '../examples/github-event.ts';
import type { ExpectedCalls, ExpectedFields, RelayTest } from './define-tests.ts';
import { startTrialRelay, type TrialRelay } from './trial-relay.ts';

/** A Monday. Examples happen then, so that a test has the same outcome on every day. */
const MONDAY = Date.parse('2026-01-05T10:00:00Z');
const EXAMPLE_NUMBER = 100_001;
/** Longer than the relay folds changes, and than it waits after failures. */
const LONGEST_WAIT_MS = 86_400_000;

/** A request that a test wants, or one that came. */
interface Request<Fields> {
  operation: string;
  fields: Fields;
}

/**
 * Runs a test in a relay of its own.
 *
 * @param folder of the file with the test
 * @returns in what the outcome differs, as lines for a person; none if it is as expected
 * @throws {Error} if the test itself cannot be used
 */
export async function runTest({ event, makes }: RelayTest, config: RelayConfig, folder: string): Promise<string[]> {
  const wanted = makes === 'nothing' ? [] : Object.entries(makes).flatMap(wantedRequests);
  const given = 'file' in event ? fromFile(event.event, resolve(folder, event.file)) : fromExample(event, config);
  const relay = await startTrialRelay(config, given.at);
  try {
    const { status, answer } = await relay.take(given.event, given.payload, 'test');
    if (status !== 200 && status !== 202) return [`the webhook refuses the event with ${status}: ${answer.error}`];
    await relay.workUntil(given.at + LONGEST_WAIT_MS);
    return await differences(wanted, makes === 'nothing', relay, answer.ignored);
  } finally {
    await relay.close();
  }
}

async function differences(
  wanted: readonly Request<ExpectedFields>[],
  isNothing: boolean,
  relay: TrialRelay,
  ignored: unknown,
): Promise<string[]> {
  const came = relay.calls
    .filter(({ operation }) => operations.get(operation)?.effect !== 'read')
    .map(({ operation, payload, status }) => ({ operation, fields: payload, status }));
  const comments = isNothing ? relay.comments : [];
  const unmatched = [...came];
  const missing = wanted.filter((request) => {
    const place = unmatched.findIndex((one) => fits(one, request));
    if (place >= 0) unmatched.splice(place, 1);
    return place < 0;
  });
  if (missing.length + unmatched.length + comments.length === 0) return [];
  const jobs = await relay.jobs();
  return [
    ...missing.map((request) => `expected ${inWords(request)}`),
    ...unmatched.map((request) => `came     ${inWords(request)}, answered with ${request.status}`),
    ...comments.map(({ body }) => `came     a comment: ${body.replaceAll(/\s*<!--.*?-->/g, '')}`),
    ...(came.length === 0 ? ['came     no request that changes anything'] : []),
    ...(ignored === undefined ? [] : [`because  the event was ignored: ${ignored}`]),
    ...jobs.map((job) => {
      const why = job.outcome ?? job.parked?.reason ?? job.waitingFor;
      return `because  the job of ${job.summary} is ${statusInWords(job)}${why === undefined ? '' : `: ${why}`}`;
    }),
  ];
}

/** Whether it was carried out, and is as expected. */
const fits = (
  came: Request<Record<string, unknown>> & { status: number },
  { operation, fields }: Request<ExpectedFields>,
) =>
  came.status < 300 &&
  came.operation === operation &&
  Object.entries(fields).every(([name, value]) =>
    value instanceof RegExp ? value.test(String(came.fields[name])) : isDeepStrictEqual(came.fields[name], value),
  );

/** `defects/create with title "…", priority "High"` */
function inWords({ operation, fields }: Request<ExpectedFields>): string {
  const values = Object.entries(fields).map(([name, value]) => `${name} ${shown(value)}`);
  return values.length === 0 ? operation : `${operation} with ${values.join(', ')}`;
}

const LONGEST_SHOWN = 80;

function shown(value: unknown): string {
  const text = value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

/** @throws {Error} for an operation or a field that does not exist: nothing could ever be as expected */
function wantedRequests([name, wanted]: [string, ExpectedCalls[keyof ExpectedCalls]]): Request<ExpectedFields>[] {
  const declared = operations.get(name);
  if (!declared) throw new Error(`there is no operation '${name}'; ${meantName(name, [...operations.keys()])}`);
  const known = declared.payload instanceof z.ZodObject ? Object.keys(declared.payload.shape) : undefined;
  return [wanted ?? {}].flat().map((fields) => {
    const unknown = known && Object.keys(fields).find((field) => !known.includes(field));
    if (unknown === undefined) return { operation: name, fields };
    throw new Error(`${name} has no field '${unknown}'; ${meantName(unknown, known ?? [])}`);
  });
}

interface GivenEvent {
  event: string;
  payload: object;
  /** When it happened; epoch milliseconds. */
  at: number;
}

function fromExample(wanted: Exclude<RelayTest['event'], { file: string }>, config: RelayConfig): GivenEvent {
  const repository = wanted.repository ?? config.github.repositories[0]?.name;
  return { ...exampleEvent({ ...wanted, repository }, { now: MONDAY, number: EXAMPLE_NUMBER }), at: MONDAY + 1_000 };
}

const subject = z.looseObject({ updated_at: z.iso.datetime() }).optional();
const withTimes = z.looseObject({ issue: subject, comment: subject, pull_request: subject });

/** @throws {Error} if it is not a payload of GitHub */
function fromFile(event: string, file: string): GivenEvent {
  const payload = withTimes.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!payload.success) throw new Error(`${file} is not the payload of a delivery as GitHub sent it`);
  const { issue, comment, pull_request } = payload.data;
  const times = [issue, comment, pull_request].flatMap((one) => (one ? Date.parse(one.updated_at) : []));
  // The relay ignores events that are too old, so it is then for it.
  return { event, payload: payload.data, at: Math.max(...times, 0) + 1_000 || MONDAY };
}
