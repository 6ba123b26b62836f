import { isRefused, token } from './session.ts';

/** The relay refused a request, or did not answer. The message is for the operator. */
export class ApiError extends Error {
  override name = 'ApiError';
  /** Undefined if there was no answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** @throws {ApiError} */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { ...(signal && { signal }) });
  return (await response.json()) as T;
}

/** @throws {ApiError} */
export async function post<T>(path: string, body: object): Promise<T> {
  const response = await request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as T;
}

/** Sends a request with the token. @throws {ApiError} for every answer but 2xx; an abort is thrown as it is */
export async function request(path: string, init: RequestInit): Promise<Response> {
  const used = token.value;
  const headers = { ...init.headers, authorization: `Bearer ${used ?? ''}` };
  const response = await fetch(path, { ...init, headers, cache: 'no-store', credentials: 'omit' }).catch((cause) => {
    if (init.signal?.aborted) throw cause;
    throw new ApiError('The relay does not answer. Is it still running?', undefined, { cause });
  });
  if (response.ok) return response;
  // The answer may be about an earlier token.
  if (response.status === 401 && used === token.value) isRefused.value = true;
  throw new ApiError(await reasonOf(response), response.status);
}

async function reasonOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof error === 'string' ? error : `The relay answered with status ${response.status}.`;
}
