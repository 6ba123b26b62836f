import * as zod from 'zod/mini';
import type { $ZodType } from 'zod/v4/core';
import { NeedsOperator, StepFailed } from '../../engine/record/interruption.ts';
import { meantName } from '../../faults/fault.ts';
import { refusedFields } from '../../faults/refused-fields.ts';
import { type Operation, rawOperation } from '../../service/partner/operation.ts';
import { operations } from '../../service/partner/operations/operations.ts';
import { messageOf, SENTENCE_END } from '../../text.ts';
import type { Json, Link } from '../../triggers/steps.ts';
import { foreignIn } from './json.ts';
import { ofTeam } from './thrown.ts';

/** The part of an answer that the team's code stores. */
export type Kept = Json | undefined;

/** A step's result is stored in one item with its sends; an item holds 400 KB. */
const MOST_KEPT_BYTES = 32_768;

/**
 * Resolves a path for GitHub. Refuses `..` in any form, which could lead to another repository.
 * @throws {NeedsOperator}
 */
export function pathOf(step: string, path: string): URL {
  // In a URL, everything after `#` would be lost.
  const whole = path.replaceAll('#', '%23');
  const isPath = /^\/repos\/[^\t\n\r]+$/.test(whole) && URL.canParse(whole, 'https://api');
  const url = isPath ? new URL(whole, 'https://api') : undefined;
  const isBelow = url && /^\/repos\/[^/]+\/[^/]/.test(url.pathname);
  if (isBelow && !/(%2f|%5c)\.\.|\.\.(%2f|%5c)/i.test(url.pathname.replaceAll(/%2e/gi, '.'))) return url;
  throw new NeedsOperator(
    `the step '${step}' needs a path such as /repos/acme/web/releases/latest, which '${path}' is not`,
  );
}

/**
 * Returns the operation for a path of the service: a declared one with an unknown effect, or an undeclared one.
 * @throws {NeedsOperator}
 */
export function sendable(step: string, path: string): Operation {
  const raw = rawAt(step, path);
  return operations.has(raw.name) ? declared(step, raw.name, ['unknown'], 'send') : raw;
}

function rawAt(step: string, path: string): Operation {
  try {
    return rawOperation(path);
  } catch (error) {
    throw new NeedsOperator(`the step '${step}' cannot be sent: ${messageOf(error)}`);
  }
}

/** @throws {NeedsOperator} without a key, because all things without a key would share one */
export function keyOf(step: string, key: unknown): string {
  if ((typeof key === 'string' && key !== '') || Number.isFinite(key)) return String(key);
  throw new NeedsOperator(`the step '${step}' has no key; give a text or a number that says what it is for`);
}

/** @throws {NeedsOperator} */
export function declared(step: string, name: string, effects: readonly Operation['effect'][], verb: string): Operation {
  const operation = operations.get(name);
  if (!operation) {
    const meant = meantName(name, [...operations.keys()]);
    throw new NeedsOperator(
      `the step '${step}' calls ${name}, which the relay does not know; ${meant}${SENTENCE_END.test(meant) ? '' : '.'} To call this path anyway, use send()`,
    );
  }
  const fitting = { create: 'create', unknown: 'send', read: 'call or list', repeatable: 'call' }[operation.effect];
  if (effects.includes(operation.effect)) return operation;
  throw new NeedsOperator(
    `the step '${step}' calls ${name} with ${verb}(); use ${fitting}(), because of what the operation does`,
  );
}

/**
 * Checks that a result is JSON, because only JSON comes back unchanged from the journal.
 * @throws {NeedsOperator}
 */
export function checked(step: string, keep: () => Kept, most = MOST_KEPT_BYTES): Json {
  const kept = ofTeam(keep);
  const foreign = foreignIn(kept, '');
  if (foreign)
    throw new NeedsOperator(
      `the step '${step}' keeps a ${foreign.is}, which JSON does not have; keep a text or a number instead`,
    );
  const bytes = Buffer.byteLength(JSON.stringify(kept ?? null));
  if (bytes <= most) return kept ?? null;
  throw new NeedsOperator(`the step '${step}' keeps ${bytes} bytes; keep at most ${most}: choose fields`);
}

/** @throws {StepFailed} if the answer does not match the automation's schema */
export function parsed(step: string, schema: $ZodType<Json>, data: unknown): Json {
  const read = zod.safeParse(schema, data);
  if (read.success) return read.data;
  const fields = refusedFields(read.error.issues);
  throw new StepFailed(`the answer to the step '${step}' is not as its schema says: ${fields}`);
}

/** @throws {NeedsOperator} if a link is not an http(s) address */
export function withAddresses(step: string, parts: readonly (string | Link)[]): readonly (string | Link)[] {
  const wrong = parts.find((part) => typeof part !== 'string' && !/^https?:\/\/\S+$/.test(part?.url));
  if (wrong === undefined) return parts;
  throw new NeedsOperator(`the step '${step}' has a link that does not begin with https://`);
}

/** Numbers outside this range are probably seconds or nanoseconds. */
const TIMES_MS = { from: Date.UTC(2000), to: Date.UTC(2100) };

/** @throws {NeedsOperator} */
export function momentOf(step: string, time: string | number): number {
  // Without a time zone, ECMAScript would use the machine's.
  const at = typeof time === 'number' ? time : Date.parse(/[T ][\d:.]+$/.test(time) ? `${time}Z` : time);
  if (at >= TIMES_MS.from && at < TIMES_MS.to) return at;
  const what = Number.isNaN(time) ? 'something' : `'${time}'`;
  throw new NeedsOperator(
    `the step '${step}' waits until ${what}, which is not a time between 2000 and 2100; write it in ISO 8601, or in epoch milliseconds; the until of a question also takes { hours: 2 }`,
  );
}
