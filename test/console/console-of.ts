import { createLoggedChanges } from '../../console/log-changes.ts';
import { type ConsoleOptions, startConsole } from '../../console/server.ts';
import { createTry } from '../../console/try/try.ts';
import { rawRequest } from '../local/raw-request.ts';
import { SIGNING_SECRET, type TestRelay, WEBHOOK_SECRET } from '../relay.ts';

export const TOKEN = 'the token of the tests';

/** A console of a test's relay. */
export interface TestConsole {
  port: number;
  url: string;
  /** Errors that the operator did not cause. */
  failures: unknown[];
  /** Takes a line of the functions' log, as the console of `npm start` gets it. */
  saw(line: unknown): void;
  get<T>(path: string): Promise<T>;
  /** @returns the status, and the answer */
  post<T>(path: string, body: unknown): Promise<{ status: number; answer: T }>;
  /** Sends a request with exactly these headers, which `fetch` does not allow. */
  raw(method: string, path: string, headers?: Record<string, string>, body?: string): ReturnType<typeof rawRequest>;
  close(): Promise<void>;
}

export async function consoleOf(
  relay: TestRelay,
  options: Partial<ConsoleOptions> = {},
  onPort = 0,
): Promise<TestConsole> {
  const failures: unknown[] = [];
  const changes = createLoggedChanges();
  const { runtime, stores, sandbox, slack: standIn } = relay;
  const { url, close } = await startConsole(onPort, {
    name: 'this machine',
    operate: true,
    operator: 'mira',
    token: TOKEN,
    runtime,
    stores,
    changes,
    runSchedule: async () => ({}),
    failed: (error) => void failures.push(error),
    try: createTry({
      clock: runtime.clock,
      addresses: () => ({ github: relay.url, commands: relay.slackUrl, interactions: relay.slackUrl }),
      webhookSecret: WEBHOOK_SECRET,
      table: stores.table,
      runtime,
      slack: { signingSecret: SIGNING_SECRET, standIn },
      sandbox,
    }),
    ...options,
  });
  const port = Number(new URL(url).port);
  const headers = { authorization: `Bearer ${TOKEN}`, origin: url };
  return {
    port,
    url,
    failures,
    saw: changes.saw,
    async get<T>(path: string) {
      const response = await fetch(url + path, { headers });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${path} is answered with ${response.status}: ${JSON.stringify(answer)}`);
      return answer as T;
    },
    async post<T>(path: string, body: unknown) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, answer: (await response.json()) as T };
    },
    raw: (method, path, headers = {}, body) => rawRequest(url, { method, path, headers, body }),
    close,
  };
}
