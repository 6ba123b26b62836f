/** The names of fields that are times; in records of the table they are epoch milliseconds. */
const TIME = /(?:^(?:at|from|until|since)|At|Until|Since)$/;
/** What people and the service sent is printed as it is. */
const NOT_OURS = new Set(['input', 'result', 'payload']);

/** The value with its times as ISO 8601 in UTC, for programs. A time of 0, which means that there is none, is null. */
export function withIsoTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIsoTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ofField(name, field)]));
}

function ofField(name: string, field: unknown): unknown {
  if (NOT_OURS.has(name)) return field;
  if (typeof field !== 'number' || !TIME.test(name)) return withIsoTimes(field);
  return field > 0 && Number.isFinite(field) ? new Date(field).toISOString() : null;
}
