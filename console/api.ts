import { automationNames } from '../lib/automations/automations.ts';
import { HttpError } from '../lib/state/http/function-url.ts';
import { messageOf } from '../lib/text.ts';
import { readIgnored } from '../local/ignored.ts';
import { decide } from './actions.ts';
import { described } from './decisions.ts';
import { jobDetail } from './job.ts';
import { testOfJob } from './job-test.ts';
import { listJobs } from './jobs.ts';
import { listLinks } from './links.ts';
import { createNowReader } from './now.ts';
import { operate } from './operate.ts';
import { readParked } from './parked.ts';
import type { ConsoleRelay } from './relay.ts';
import { shareJob } from './share.ts';
import type { Try } from './try/try.ts';

/** A request that has passed the guard. */
export interface ApiRequest {
  method: 'GET' | 'POST';
  path: string;
  query: URLSearchParams;
  /** The JSON of a POST, not checked yet. */
  body?: unknown;
}

const SHOWN_IGNORED = 100;

interface ApiRoute {
  method: ApiRequest['method'];
  path: RegExp;
  answer(request: ApiRequest, name: string): Promise<object>;
}

/** The console's data, as console/contract.ts describes it. */
export function createApi(relay: ConsoleRelay) {
  const now = createNowReader(relay);
  const routes: ApiRoute[] = [
    { method: 'GET', path: /^\/api\/relay$/, answer: async () => factsOf(relay) },
    { method: 'GET', path: /^\/api\/now$/, answer: now },
    { method: 'GET', path: /^\/api\/jobs$/, answer: ({ query }) => listJobs(relay, query) },
    { method: 'POST', path: /^\/api\/jobs$/, answer: ({ body }) => decide(relay, body) },
    { method: 'GET', path: /^\/api\/jobs\/([\w.-]+)$/, answer: (_, id) => jobDetail(relay, id) },
    { method: 'POST', path: /^\/api\/jobs\/([\w.-]+)$/, answer: ({ body }, id) => decide(relay, body, id) },
    { method: 'GET', path: /^\/api\/jobs\/([\w.-]+)\/share$/, answer: (_, id) => shareJob(relay, id) },
    { method: 'GET', path: /^\/api\/jobs\/([\w.-]+)\/test$/, answer: (_, id) => testOfJob(relay, id) },
    { method: 'GET', path: /^\/api\/parked$/, answer: () => readParked(relay) },
    { method: 'GET', path: /^\/api\/links$/, answer: ({ query }) => listLinks(relay, query) },
    { method: 'GET', path: /^\/api\/ignored$/, answer: async () => ignoredBy(relay) },
    { method: 'POST', path: /^\/api\/operate$/, answer: ({ body }) => operate(relay, body) },
    { method: 'GET', path: /^\/api\/try$/, answer: async () => tryOf(relay).read() },
    { method: 'POST', path: /^\/api\/try$/, answer: ({ body }) => tryOf(relay).act(body) },
  ];
  /** @throws {HttpError} that tells the operator what to correct */
  return async (request: ApiRequest): Promise<object> => {
    const ofPath = routes.filter(({ path }) => path.test(request.path));
    if (ofPath.length === 0) throw new HttpError(404, `the console has no ${request.path}`);
    const route = ofPath.find(({ method }) => method === request.method);
    if (!route) throw new HttpError(405, `${request.path} does not take ${request.method}`);
    if (request.method !== 'GET' && !relay.operate) {
      throw new HttpError(403, 'this console is read-only; start it with --operate to make changes');
    }
    return route.answer(request, route.path.exec(request.path)?.[1] ?? '');
  };
}

function tryOf(relay: ConsoleRelay): Try {
  if (relay.try) return relay.try;
  throw new HttpError(404, 'the screen Try is for a relay on your machine');
}

export function ignoredBy({ name, logFile }: ConsoleRelay) {
  try {
    return { events: readIgnored(logFile, name, SHOWN_IGNORED) };
  } catch (cause) {
    throw new HttpError(404, messageOf(cause), { cause });
  }
}

export function factsOf({ name, operate, operator, runtime, try: canTry }: ConsoleRelay) {
  return {
    name,
    operate,
    operator,
    connections: Object.keys(runtime.config.connections),
    automations: automationNames(runtime.custom).sort(),
    canTry: canTry !== undefined,
    decisions: described,
    web: Object.fromEntries(
      Object.entries(runtime.config.connections).map(
        ([connection, { web = {} }]): [string, Readonly<Record<string, string | undefined>>] => [connection, web],
      ),
    ),
  };
}
