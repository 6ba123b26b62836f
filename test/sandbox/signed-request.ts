import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { defaultKey, type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';

export const noon = Date.UTC(2026, 1, 3, 12);

/** A sandbox that ends with the test, and a clock that stands still until the test sets it. */
export async function startAtNoon(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; time: { now: number } }> {
  const time = { now: noon };
  const sandbox = await startSandbox({ clock: () => time.now, ...options });
  onTestFinished(() => sandbox.close());
  return { sandbox, time };
}

export interface SignedRequest {
  url: string;
  body: string;
  headers: Record<string, string>;
}

interface Signing {
  key?: { apiKey: string; secretKey: string };
  at?: number;
  nonce?: string;
  /** The outer body, instead of the encrypted payload. */
  body?: string;
  headers?: Record<string, string>;
}

export function encrypt(text: string, secretKey: string = defaultKey.secretKey): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', createHash('sha256').update(secretKey).digest(), iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
}

export function sign(baseUrl: string, operation: string, payload: object, signing: Signing = {}): SignedRequest {
  const { key = defaultKey, at = noon, nonce = randomUUID() } = signing;
  const url = `${baseUrl}/api/v1/partner${operation}`;
  const body = signing.body ?? JSON.stringify({ encrypted_data: encrypt(JSON.stringify(payload), key.secretKey) });
  const timestamp = String(Math.floor(at / 1000));
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const canonical = ['POST', new URL(url).pathname, timestamp, nonce, bodyHash].join('\n');
  return {
    url,
    body,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-api-key': key.apiKey,
      'x-timestamp': timestamp,
      'x-nonce': nonce,
      'x-signature': createHmac('sha256', key.secretKey).update(canonical).digest('hex'),
      ...signing.headers,
    },
  };
}

type Row = Record<string, unknown>;

interface Envelope {
  success: boolean;
  message: string;
  data: Row;
  pagination?: Record<string, number>;
  errors?: Record<string, string>;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Empty if the body is not an envelope. */
  json: Envelope;
}

export async function send({ url, body, headers }: SignedRequest): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' });
  const text = await response.text();
  const json = JSON.parse(/^\{.*\}$/s.test(text) ? text : '{}');
  return { status: response.status, headers: response.headers, text, json };
}

export function call(sandbox: Sandbox, operation: string, payload: object, signing?: Signing): Promise<Answer> {
  return send(sign(sandbox.url, operation, payload, signing));
}
