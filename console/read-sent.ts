import type * as z from 'zod';
import { faultLine, readInput } from '../lib/faults/fault.ts';
import { HttpError } from '../lib/state/http/function-url.ts';

/**
 * Reads what a page sent.
 * @param refusal begins the message about an invalid value; the faults follow
 * @throws {HttpError} 400
 */
export function readSent<T>(schema: z.ZodType<T>, sent: unknown, refusal: string): T {
  const read = readInput(schema, sent);
  if (read.ok) return read.value;
  throw new HttpError(400, `${refusal}: ${read.faults.map(faultLine).join('; ')}`);
}
