import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listen } from '../local/listen.ts';
import { decryptPayload } from '../sandbox/decryption.ts';
import { defaultKey } from '../sandbox/sandbox.ts';
import type { TestRelay } from './relay.ts';
import { send, sign } from './sandbox/signed-request.ts';

export type Row = Record<string, unknown>;

/** The envelope of an answer. Its rows may be changed in place. */
interface Envelope {
  success?: unknown;
  message?: string;
  data?: unknown;
  pagination?: Row | undefined;
  errors?: Row;
}

interface RawAnswer {
  status: number;
  body: string | Buffer;
  headers?: Record<string, string>;
}

/** The differences of an instance from the relay's assumptions. Paths are operations: `defects/list`. */
export interface Mutation {
  /** Returns the payload for the sandbox instead of this one, or a refusal that answers at once. */
  reads?: (payload: Row, path: string) => Row | { refused: number; message?: string; errors?: Row };
  /** Returns the answer instead of this one, or its status and body. */
  answers?: (answer: Envelope, payload: Row, path: string) => Envelope | RawAnswer;
}

/** Puts a service with differences in front of the relay's sandbox. The relay's secret names it from now on. */
export async function mutate(relay: TestRelay, mutation: Mutation): Promise<void> {
  const baseUrl = await startMutated(relay.sandbox.url, mutation);
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl, ...defaultKey });
}

/** Answers of a sandbox by request. Other sandboxes with the same records answer read requests alike. */
export type KeptAnswers = Map<string, Awaited<ReturnType<typeof send>>>;

/**
 * Starts a service with differences in front of a sandbox. It ends with the test.
 *
 * @param kept answers that the sandbox need not give again
 * @returns the URL of the service
 */
export async function startMutated(
  sandboxUrl: string,
  { reads, answers }: Mutation,
  kept?: KeptAnswers,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { 'x-timestamp': timestamp, 'x-nonce': nonce } = request.headers;
    const path = (request.url ?? '').replace('/api/v1/partner/', '');
    const sent = decryptPayload(await buffer(request), defaultKey.secretKey);
    const read = reads?.(structuredClone(sent), path) ?? sent;
    if ('refused' in read) {
      const { refused, message = 'Validation failed', errors } = read;
      response.writeHead(Number(refused)).end(JSON.stringify({ success: false, message, errors }));
      return;
    }
    const signing = { at: Number(timestamp) * 1_000, nonce: String(nonce) };
    const asked = `${path} ${JSON.stringify(read)}`;
    const got = kept?.get(asked) ?? (await send(sign(sandboxUrl, `/${path}`, read, signing)).catch(() => undefined));
    if (!got) return void response.destroy();
    kept?.set(asked, got);
    const { status, json, text } = got;
    const answer = status < 300 ? answers?.(structuredClone(json), sent, path) : undefined;
    if (answer && 'body' in answer) response.writeHead(answer.status, answer.headers).end(answer.body);
    else response.writeHead(status).end(answer ? JSON.stringify(answer) : text);
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return url;
}

/** A service that refuses larger pages. */
export const takesAtMost = (most: number, refusal: { errors?: Row } = {}): Mutation => ({
  reads: (payload) => (Number(payload.per_page ?? payload.limit ?? 0) > most ? { refused: 422, ...refusal } : payload),
});

/** A service that writes these ids as text, and accepts only text for them. */
export function textIds(...fields: string[]): Mutation {
  const isWrong = ([name, value]: [string, unknown]) => fields.includes(name) && typeof value === 'number';
  return {
    reads: (payload) => (Object.entries(payload).some(isWrong) ? { refused: 422 } : payload),
    answers(answer) {
      for (const row of [answer.data].flat() as Row[]) {
        for (const name of fields) if (typeof row[name] === 'number') row[name] = String(row[name]);
      }
      return answer;
    },
  };
}
