import * as z from 'zod';
import { faultLine, readInput } from '../../lib/faults/fault.ts';
import { given } from '../given.ts';
import type { RelayTest } from './define-tests.ts';

const text = z.string();
const texts = z.array(text);
const time = text.refine((value) => Number.isFinite(Date.parse(value)), 'expected a time such as 2026-01-05T10:00:00Z');
const fields = z.looseObject({});
const records = z.array(fields).optional();

const test = z.strictObject({
  given: given.optional(),
  before: z.array(fields).optional(),
  event: fields,
  answers: z.record(text, text).optional(),
  at: time.optional(),
  makes: z.union([z.literal('nothing'), fields], "expected 'nothing' or operations; write makes: {} for none"),
  says: z.array(z.union([text, z.instanceof(RegExp)], 'expected a text or a regular expression')).optional(),
  holds: z
    .strictObject({
      ...{ projects: records, tasks: records, timelogs: records, defects: records },
      ...{ testScenarios: records, checklistItems: records },
    })
    .optional(),
});

/** The field that identifies each kind of event. */
const EVENTS = {
  command: z.strictObject({ command: text, by: text.optional(), channel: text.optional() }),
  hook: z.strictObject({ hook: text, body: fields, headers: z.record(text, text).optional() }),
  schedule: z.strictObject({ schedule: text, at: time }),
  file: z.strictObject({ file: text, event: text }),
};
const example = z
  .strictObject({ event: text, action: text, issue: z.number(), body: text, repository: text })
  .extend({ labels: texts, merged: z.boolean(), set: texts })
  .partial();

/**
 * Checks a test, because a team may not check its types. @throws {Error} if a field is unknown or has the wrong type
 */
export function refuseUnusable(given: RelayTest): void {
  const faults = faultsOf(test, given, '');
  // Events have no common field with their kind, so the message of a union would be too vague.
  if (faults.length === 0) {
    const events = [...(given.before ?? []).map((one, index) => [`before.${index}.`, one] as const)];
    for (const [place, event] of [...events, ['event.', given.event] as const]) {
      const kind = Object.entries(EVENTS).find(([field]) => field in event);
      faults.push(...faultsOf(kind?.[1] ?? example, event, place));
    }
  }
  if (faults.length > 0) throw new Error(faults.join('; '));
}

function faultsOf(shape: z.ZodType, value: unknown, place: string): string[] {
  const read = readInput(shape, value);
  return read.ok ? [] : read.faults.map((fault) => place + faultLine(fault));
}
