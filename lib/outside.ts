/** Whether it is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One line without control characters and without bidirectional marks, which can reverse text on a screen. */
export function onOneLine(text: string): string {
  return text.replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}
