/** Names of fields that may hold a secret, or an address that works like one. */
const SECRET = /secret|token|password|authorization|signature|api_?key|response_?url|trigger_?id|cookie/i;

/** A value of a job as the console may show it. The relay stores no secrets in jobs, but people may send some. */
export function withoutSecrets<T>(value: T): T;
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutSecrets(entry));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, SECRET.test(name) ? '(not shown)' : withoutSecrets(entry)]),
  );
}
