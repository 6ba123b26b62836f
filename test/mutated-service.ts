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

/** How an instance differs from what the relay assumes. Paths are those of operations: `defects/list`. */
export interface Mutation {
  /** The payload that the sandbox gets in place of this one, or the refusal that answers it at once. */
  reads?: (payload: Row, path: string) => Row | { refused: number; message?: string; errors?: Row };
  /** The answer in place of this one, or its status and body. */
  answers?: (answer: Envelope, payload: Row, path: string) => Envelope | RawAnswer;
}

/** The sandbox of the relay, behind a service that differs. The relay's secret names it from now on. */
export async function mutate(relay: TestRelay, mutation: Mutation): Promise<void> {
  const baseUrl = await startMutated(relay.sandbox.url, mutation);
  relay.stack.secrets.put(`${relay.stack.secretPrefix}partner/main`, { baseUrl, ...defaultKey });
}

/** What a sandbox has answered, by what it was asked. Others with the same records answer the same to who only reads. */
export type KeptAnswers = Map<string, Awaited<ReturnType<typeof send>>>;

/**
 * @param kept spares the sandbox what it was asked before
 * @returns the URL of a service that differs from that sandbox, and ends with the test
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

/** A service that refuses pages that are larger. */
export const takesAtMost = (most: number, refusal: { errors?: Row } = {}): Mutation => ({
  reads: (payload) => (Number(payload.per_page ?? payload.limit ?? 0) > most ? { refused: 422, ...refusal } : payload),
});

/** A service that writes these ids as text, and takes nothing else. */
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
