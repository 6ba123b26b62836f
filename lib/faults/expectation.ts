import * as z from 'zod/v4/core';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  undefined: 'nothing',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address such as ada@example.com',
  guid: 'a UUID such as 6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
  uuid: 'a UUID such as 6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01',
  url: 'a URL such as https://example.com',
  hostname: 'a host name such as relay.example.com',
  date: 'a date such as 2026-12-25',
  datetime: 'a time such as 2026-12-25T09:00:00Z',
  safeint: 'a whole number',
};

/** The unit of a length, singular and plural. */
const COUNTED: Readonly<Record<string, readonly [string, string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/** The message for an unknown name, unless its schema has another one. */
export const UNKNOWN_NAME = 'this name is unknown';

/** The message of a union without a message of its own. */
export const OTHER_KIND = 'expected another kind of value';

/** Says what zod expected in place of a fault: `expected a list`. */
export function expectation(issue: z.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? ofMissing(issue) : `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_format':
      return `expected ${FORMATS[issue.format] ?? `a text that matches ${issue.pattern ?? issue.format}`}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'expected a text that is not empty';
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return UNKNOWN_NAME;
    case 'invalid_union':
      return OTHER_KIND;
    default:
      return 'cannot be used';
  }
}

/** Returns alternatives in words: `'low', 'normal' or 'high'` */
function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const last = shown.pop() ?? 'nothing';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}

function counted(limit: number | bigint, origin: string): string {
  const [one, several] = COUNTED[origin] ?? [];
  if (one === undefined) return String(limit);
  return `${limit} ${limit === 1 ? one : several}`;
}

/**
 * Returns the message for a missing value. For a missing text, zod names only the type, and the schema's message for an
 * empty text says more.
 */
function ofMissing({ expected, schema }: z.$ZodRawIssue<z.$ZodIssueInvalidType>): string {
  const type = `expected ${TYPES[expected] ?? expected}`;
  if (expected !== 'string' || !schema) return type;
  const message = z.safeParse(schema, '', { error: expectation }).error?.issues[0]?.message;
  return message?.startsWith('expected ') ? message : type;
}
