import * as z from 'zod/mini';
import { PayloadError } from './delivery.ts';

export const repository = z.object({ full_name: z.string() });
export const installation = z.object({ id: z.int() });

/** @throws {PayloadError} that names each field which is missing or of another type */
export function readPayload<T>(event: string, schema: z.core.$ZodType<T>, payload: unknown): T {
  const parsed = z.safeParse(schema, payload);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((fault) => `${fault.path.join('.')}: ${fault.message}`);
  throw new PayloadError(`the ${event} payload cannot be read: ${fields.slice(0, 5).join('; ')}`);
}
