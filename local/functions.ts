import type { Runtime } from '../lib/runtime.ts';
import { createCrowd } from './crowd.ts';
import { asSqsHandler, type EventSource, startEventSource } from './event-source.ts';
import { asHttpHandler, type HttpHandler } from './http-front.ts';
import { keepingDeliveries } from './kept-deliveries.ts';
import { createLocalSchedules, type LocalSchedules, loadSchedules } from './schedules.ts';
import type { LocalStack } from './stack.ts';

const WORKER_TIMEOUT_MS = 60_000;

/** The functions, unchanged, and what calls them on this machine. */
export interface LocalFunctions {
  takeGithub: HttpHandler;
  takeSlack: HttpHandler;
  linkPages: HttpHandler;
  source: EventSource;
  schedules: LocalSchedules;
}

/** @param calm is called when more jobs may run again, after a crowd of requests */
export async function openFunctions(
  runtime: Runtime,
  { queues }: LocalStack,
  calm: () => void,
): Promise<LocalFunctions> {
  const { log } = runtime;
  const [githubWebhook, slackWebhook, accountLink, worker, scheduled] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/slack-webhook.ts'),
    import('../functions/account-link.ts'),
    import('../functions/job-worker.ts'),
    loadSchedules(runtime),
  ]);
  const webhooks = createCrowd(() => performance.now(), calm);
  return {
    takeGithub: keepingDeliveries(webhooks.counted(asHttpHandler(githubWebhook.createHandler(runtime))), (error) =>
      log.warn({ message: 'a delivery was not kept for send --again', error: String(error) }),
    ),
    takeSlack: webhooks.counted(asHttpHandler(slackWebhook.createHandler(runtime))),
    linkPages: asHttpHandler(accountLink.createHandler(runtime)),
    source: startEventSource(queues, asSqsHandler(worker.createHandler(runtime)), {
      maxConcurrency: webhooks.maxConcurrency,
      timeoutMs: WORKER_TIMEOUT_MS,
      failed: (error) => log.error({ message: 'the worker failed', error: String(error) }),
    }),
    schedules: createLocalSchedules(scheduled, {
      clock: Date.now,
      failed: (slug, error) => log.error({ message: `${slug} failed`, error: String(error) }),
    }),
  };
}
