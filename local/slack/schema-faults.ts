import type * as z from 'zod';

type Path = readonly PropertyKey[];

/** A fault and its position, in the format of Slack's `response_metadata.messages`, without the leading `[ERROR]`. */
export function faultAt(fault: string, pointer: string): string {
  return `${fault} [json-pointer:${pointer}]`;
}

/** The faults that a schema found, in Slack's wording as far as it is known from published answers. */
export function schemaFaults(error: z.ZodError, input: unknown, pointer: string): string[] {
  return error.issues.flatMap((issue) => {
    const { fault, path } = inSlacksWords(issue, input);
    return faultAt(fault, [pointer, ...path.map(String)].join('/'));
  });
}

function inSlacksWords(issue: z.core.$ZodIssue, input: unknown): { fault: string; path: Path } {
  const { path } = issue;
  if (issue.code === 'custom') return { fault: issue.message, path };
  if (issue.code === 'unrecognized_keys') {
    return { fault: `invalid additional property: ${issue.keys.join(', ')}`, path };
  }
  const value = path.reduce<unknown>(
    (inside, key) => (inside as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  );
  if (value === undefined && path.length > 0) {
    return { fault: `missing required field: ${String(path.at(-1))}`, path: path.slice(0, -1) };
  }
  if (path.at(-1) === 'type') return { fault: `unsupported type: ${String(value)}`, path };
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return { fault: `must be less than ${Number(issue.maximum) + 1} characters`, path };
  }
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return { fault: `no more than ${issue.maximum} items allowed`, path };
  }
  if (issue.code === 'too_small' && issue.origin === 'string') {
    return { fault: `must be more than ${Number(issue.minimum) - 1} characters`, path };
  }
  return { fault: issue.message, path };
}
