import type { IncomingMessage } from 'node:http';
import { SlackError } from './slack-error.ts';

export type Arguments = Readonly<Record<string, unknown>>;

export interface ApiCall {
  args: Arguments;
  /** From the header or a form, but not from a query or JSON. */
  token: string | undefined;
  /** Warnings about things that Slack accepts anyway. */
  warning?: string;
}

/**
 * The arguments and the token of a call, from the query, a form or JSON. https://docs.slack.dev/apis/web-api; the
 * errors are those listed on the page of every method.
 *
 * @param takesJson if false, JSON is read and dropped, and Slack answers as if the arguments were missing
 * @throws {SlackError}
 */
export function readApiCall(
  request: Pick<IncomingMessage, 'url' | 'headers'>,
  body: string,
  takesJson: boolean,
): ApiCall {
  const query = Object.fromEntries(new URLSearchParams(request.url?.split('?')[1]));
  const read = readBody(request.headers['content-type'], body, takesJson);
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return { ...read, args: { ...query, ...read.args }, token: bearer ?? read.token };
}

function readBody(contentType: string | undefined, body: string, takesJson: boolean): ApiCall {
  if (contentType === undefined) {
    if (body === '') return { args: {}, token: undefined };
    throw new SlackError('missing_post_type');
  }
  const [type = '', ...parameters] = contentType.toLowerCase().split(/\s*;\s*/);
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !['utf-8', 'iso-8859-1'].includes(charset)) throw new SlackError('invalid_charset');
  switch (type) {
    case 'application/x-www-form-urlencoded': {
      const { token, ...args } = Object.fromEntries(new URLSearchParams(body));
      return { args, token, ...(charset && { warning: 'superfluous_charset' }) };
    }
    case 'application/json': {
      const args = jsonObject(body);
      return { args: takesJson ? args : {}, token: undefined, ...(!charset && { warning: 'missing_charset' }) };
    }
    default:
      throw new SlackError('invalid_post_type');
  }
}

function jsonObject(body: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new SlackError('invalid_json');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new SlackError('json_not_object');
  return json as Record<string, unknown>;
}

/** @throws {SlackError} if it is missing or empty */
export function required(args: Arguments, name: string): unknown {
  const value = args[name];
  if (value === undefined || value === '') {
    throw new SlackError('invalid_arguments', [`missing required field: ${name}`]);
  }
  return value;
}

/** A field that is JSON in JSON bodies, and JSON in a string in forms. */
export function structured(given: unknown, error: string): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    throw new SlackError(error);
  }
}

/** In a query or a form, true is `true` or `1`. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === '1' || value === 1;
}
