import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { newsOf, statusInWords } from '../../lib/engine/record/job.ts';
import { meantName } from '../../lib/faults/fault.ts';
import { readPayload } from '../../lib/platforms/github/payload.ts';
import { operations } from '../../lib/service/partner/operations/operations.ts';
import { cutToLength } from '../../lib/text.ts';
import { exampleEvent } from '../examples/github-event.ts';
import type { ExpectedCalls, ExpectedFields, RelayTest } from './define-tests.ts';
import { startTrialRelay, type TrialCall, type TrialRelay } from './trial-relay.ts';

/** A Monday. Examples happen then, so that a test has the same outcome on every day. */
const MONDAY = Date.parse('2026-01-05T10:00:00Z');
const EXAMPLE_NUMBER = 100_001;
/** Longer than the relay folds changes, and than it waits after failures. */
const LONGEST_WAIT_MS = 86_400_000;
const LONGEST_SHOWN = 80;

/** A request that a test wants. */
type WantedRequest = { operation: string; payload: ExpectedFields };

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
    const why = await relay.take(given.event, given.payload);
    await relay.workUntil(given.at + LONGEST_WAIT_MS);
    const comments = makes === 'nothing' ? relay.comments.map(({ body }) => body.replaceAll(/\s*<!--.*?-->/g, '')) : [];
    const lines = [...differences(wanted, relay.calls), ...comments.map((text) => `came     a comment: ${text}`)];
    return lines.length === 0 ? [] : [...lines, ...(await reasons(relay, why))];
  } finally {
    await relay.close();
  }
}

function differences(wanted: readonly WantedRequest[], calls: readonly TrialCall[]): string[] {
  const came = calls.filter(({ operation }) => operations.get(operation)?.effect !== 'read');
  const missing = wanted.filter((request) => {
    const place = came.findIndex((one) => fits(one, request));
    if (place >= 0) came.splice(place, 1);
    return place < 0;
  });
  const others = came.map((request) => `came     ${inWords(request)}, answered with ${request.status}`);
  return [...missing.map((request) => `expected ${inWords(request)}`), ...others];
}

/** Whether it was carried out, and is as expected. */
const fits = (came: TrialCall, { operation, payload }: WantedRequest) =>
  came.status < 300 &&
  came.operation === operation &&
  Object.entries(payload).every(([name, value]) =>
    value instanceof RegExp ? value.test(String(came.payload[name])) : isDeepStrictEqual(came.payload[name], value),
  );

/** `defects/create with title "…", priority "High"` */
function inWords({ operation, payload }: WantedRequest): string {
  const values = Object.entries(payload).map(([name, value]) => {
    const text = value instanceof RegExp ? String(value) : JSON.stringify(value);
    return `${name} ${cutToLength(text, LONGEST_SHOWN, '…')}`;
  });
  return values.length === 0 ? operation : `${operation} with ${values.join(', ')}`;
}

async function reasons(relay: TrialRelay, whyNone: string | undefined): Promise<string[]> {
  const jobs = await relay.jobs();
  return [
    ...(whyNone === undefined ? [] : [`because  no job was made of the event: ${whyNone}`]),
    ...jobs.map((job) => {
      const why = newsOf(job);
      return `because  the job of ${job.summary} is ${statusInWords(job)}${why === '' ? '' : `: ${why}`}`;
    }),
  ];
}

/** @throws {Error} for an operation or a field that does not exist: nothing could ever be as expected */
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

function fromExample(wanted: Exclude<RelayTest['event'], { file: string }>, config: RelayConfig) {
  const repository = wanted.repository ?? config.github.repositories[0]?.name;
  return { ...exampleEvent({ ...wanted, repository }, MONDAY, EXAMPLE_NUMBER), at: MONDAY + 1_000 };
}

const subject = z.optional(z.looseObject({ updated_at: z.iso.datetime() }));
const withTimes = z.looseObject({ issue: subject, comment: subject, pull_request: subject });

/** @throws {Error} if it is not a payload of GitHub */
function fromFile(event: string, file: string) {
  const payload = readPayload(event, withTimes, JSON.parse(readFileSync(file, 'utf8')));
  const changed = [payload.issue, payload.comment, payload.pull_request].flatMap((one) => one?.updated_at ?? []);
  // The relay ignores events that are too old, so the clock begins with this one.
  return { event, payload, at: (Math.max(0, ...changed.map(Date.parse)) || MONDAY) + 1_000 };
}
