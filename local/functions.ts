import { workersOf } from '../lib/config/capacity.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createCrowd } from './crowd.ts';
import { asSqsHandler, startEventSource } from './event-source.ts';
import { asHttpHandler, type HttpHandler } from './http-front.ts';
import { createLocalSchedules, loadSchedules } from './schedules.ts';
import type { LocalStack } from './stack.ts';

const WORKER_TIMEOUT_MS = 60_000;

/** The functions, unchanged, and what calls them on this machine. */
export type LocalFunctions = Awaited<ReturnType<typeof openFunctions>>;

/** @param calm is called when more jobs may run again, after a crowd of requests */
export async function openFunctions(runtime: Runtime, { queues }: LocalStack, calm: () => void) {
  const { log } = runtime;
  let functions = await startFunctions(runtime);
  const webhooks = createCrowd(
    () => performance.now(),
    calm,
    () => workersOf(runtime.config),
  );
  return {
    takeGithub: webhooks.counted((request) => functions.githubWebhook(request)),
    takeSlack: webhooks.counted((request) => functions.slackWebhook(request)),
    takeHook: webhooks.counted((request) => functions.hooksWebhook(request)),
    linkPages: ((request) => functions.accountLink(request)) satisfies HttpHandler,
    source: startEventSource(queues, (event, context) => functions.jobWorker(event, context), {
      maxConcurrency: webhooks.maxConcurrency,
      timeoutMs: WORKER_TIMEOUT_MS,
      failed: (error) => log.error({ message: 'the worker failed', error: String(error) }),
    }),
    schedules: createLocalSchedules(() => functions.scheduled, {
      clock: Date.now,
      failed: (slug, error) => log.error({ message: `${slug} failed`, error: String(error) }),
    }),
    /** Starts all functions again, as a deployment does. What is running ends with the configuration that it began with. */
    async use(changed: Partial<Pick<Runtime, 'config' | 'custom'>>): Promise<void> {
      functions = await startFunctions({ ...runtime, ...changed });
      // The console reads it here.
      Object.assign(runtime, changed);
    },
  };
}

async function startFunctions(runtime: Runtime) {
  const [githubWebhook, slackWebhook, hooksWebhook, accountLink, jobWorker, scheduled] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/slack-webhook.ts'),
    import('../functions/hooks-webhook.ts'),
    import('../functions/account-link.ts'),
    import('../functions/job-worker.ts'),
    loadSchedules(runtime),
  ]);
  return {
    githubWebhook: asHttpHandler(githubWebhook.createHandler(runtime)),
    slackWebhook: asHttpHandler(slackWebhook.createHandler(runtime)),
    hooksWebhook: asHttpHandler(hooksWebhook.createHandler(runtime)),
    accountLink: asHttpHandler(accountLink.createHandler(runtime)),
    jobWorker: asSqsHandler(jobWorker.createHandler(runtime)),
    scheduled,
  };
}
