import { workersOf } from '../lib/config/capacity.ts';
import type { Runtime } from '../lib/runtime.ts';
import { schedules } from '../lib/schedules.ts';
import { createCrowd } from './crowd.ts';
import { startEventSource } from './event-source.ts';
import type { HttpHandler } from './http-front.ts';
import { createLocalSchedules, schedulesOf } from './schedules.ts';
import type { LocalStack } from './stack.ts';
import { type Functions, functionsOf } from './world/functions.ts';

const WORKER_TIMEOUT_MS = 60_000;

/** The unchanged functions, and what calls them on this machine. */
export type LocalFunctions = Awaited<ReturnType<typeof startLocalFunctions>>;

/** @param calm is called after a crowd of requests, when more jobs may run again */
export async function startLocalFunctions(runtime: Runtime, { queues }: LocalStack, calm: () => void) {
  const { log } = runtime;
  let functions = await startFunctions(runtime);
  const webhooks = createCrowd(
    () => performance.now(),
    calm,
    () => workersOf(runtime.config),
  );
  return {
    takeGithub: webhooks.counted((request) => functions.takeGithub(request)),
    takeSlack: webhooks.counted((request) => functions.takeSlack(request)),
    takeHook: webhooks.counted((request) => functions.takeHook(request)),
    linkPages: ((request) => functions.linkPages(request)) satisfies HttpHandler,
    source: startEventSource(queues, (...message) => functions.work(...message), {
      maxConcurrency: webhooks.maxConcurrency,
      timeoutMs: WORKER_TIMEOUT_MS,
      failed: (error) => log.error({ message: 'the worker failed', error: String(error) }),
    }),
    schedules: createLocalSchedules(() => schedulesOf(functions), {
      clock: Date.now,
      failed: (slug, error) => log.error({ message: `${slug} failed`, error: String(error) }),
    }),
    /**
     * Starts all functions again, as a deployment does. Running work ends with the configuration that it began with.
     */
    async use(changed: Partial<Pick<Runtime, 'config' | 'custom'>>): Promise<void> {
      functions = await startFunctions({ ...runtime, ...changed });
      // The console reads the configuration from `runtime`.
      Object.assign(runtime, changed);
    },
  };
}

async function startFunctions(runtime: Runtime): Promise<Functions> {
  const functions = functionsOf(() => runtime);
  const slugs = ['github-webhook', 'slack-webhook', 'hooks-webhook', 'account-link', 'job-worker'];
  await Promise.all([...slugs, ...schedules.map(({ slug }) => slug)].map(functions.make));
  return functions;
}
