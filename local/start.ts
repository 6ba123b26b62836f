import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Handler } from 'aws-lambda';
import { LONGEST_SLEEP_MS } from '../lib/jobs/queue.ts';
import { requeueJobs } from '../lib/jobs/sweep.ts';
import { openStores, systemRuntime } from '../lib/runtime.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { type SqsHandler, startEventSource } from './event-source.ts';
import { type HttpHandler, startHttpFront } from './http-front.ts';
import { partnerFromEnvironment } from './partner-variables.ts';
import { startLocalStack } from './stack.ts';
import { findRunning, noteRunning, noteStopped, STATE_FOLDER } from './state.ts';
import { startStory } from './story.ts';

const DEFAULT_PORT = 8787;
const WORKER_TIMEOUT_MS = 60_000;
const MAX_CONCURRENCY = 10;
const SWEEP_EVERY_MS = 60_000;

async function start(): Promise<void> {
  const running = findRunning();
  if (running) throw new Error(`Partner Relay runs here already, at ${running.url} (process ${running.pid})`);
  const { default: config } = await import('../relay.config.ts');
  mkdirSync(STATE_FOLDER, { recursive: true });

  let poll = () => {};
  const stack = await startLocalStack({ tablePath: join(STATE_FOLDER, 'dynamodb'), queueChanged: () => poll() });
  const real = partnerFromEnvironment(process.env);
  const sandbox = real ? undefined : await startSandbox({ dataFile: join(STATE_FOLDER, 'sandbox.jsonl') });
  const [key] = sandbox?.keys ?? [];
  const partner = real ?? { baseUrl: sandbox?.url ?? '', apiKey: key?.apiKey ?? '', secretKey: key?.secretKey ?? '' };
  for (const connection of Object.keys(config.connections)) {
    stack.secrets.put(`${stack.secretPrefix}partner/${connection}`, partner);
  }
  const webhookSecret = process.env.GITHUB_WEBHOOK_SECRET || randomBytes(20).toString('hex');
  const token = process.env.GITHUB_TOKEN;
  stack.secrets.put(`${stack.secretPrefix}github`, { webhookSecret, ...(token && { token }) });

  // From here on the AWS SDK of the functions speaks to the local stack.
  Object.assign(process.env, stack.variables);
  const story = startStory(join(STATE_FOLDER, 'functions.log'), (line) => console.log(line));
  const runtime = { ...systemRuntime(config, process.env), log: story.log };
  const [webhook, worker, sweep] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/job-worker.ts'),
    import('../functions/job-sweep.ts'),
  ]);

  // Whoever worked on these was in the process that ended.
  const stores = openStores(runtime);
  const asleep = Date.now() + LONGEST_SLEEP_MS;
  const goOn = [
    ...(await requeueJobs('running', Number.MAX_SAFE_INTEGER, stores)),
    ...(await requeueJobs('queued', Number.MAX_SAFE_INTEGER, stores)),
    ...(await requeueJobs('waiting', asleep, stores)),
  ];

  const source = startEventSource(stack.queues, worker.createHandler(runtime) as unknown as SqsHandler, {
    maxConcurrency: MAX_CONCURRENCY,
    timeoutMs: WORKER_TIMEOUT_MS,
    failed: (error) => story.log.error({ message: 'the worker failed', error: String(error) }),
  });
  poll = source.poll;
  const sweepNow = sweep.createHandler(runtime) as unknown as Handler;
  const sweeper = setInterval(() => void sweepNow({}, {} as never, () => {}), SWEEP_EVERY_MS);
  const front = await startHttpFront(Number(process.env.PORT || DEFAULT_PORT), {
    'POST /github': webhook.createHandler(runtime) as unknown as HttpHandler,
  });
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  noteRunning({ url, pid: process.pid, variables: stack.variables });

  console.log(`
Partner Relay runs on this machine. Nothing leaves it but calls of the instance below and GitHub comments.

  webhook      ${url}/github
  secret       ${process.env.GITHUB_WEBHOOK_SECRET ? 'that of GITHUB_WEBHOOK_SECRET' : webhookSecret}
  service      ${partner.baseUrl}${sandbox ? ' (the sandbox)' : ''}
  API key      ${partner.apiKey}
  secret key   ${sandbox ? partner.secretKey : 'that of PARTNER_SECRET_KEY'}
  comments     ${token ? 'with GITHUB_TOKEN' : 'left out; set GITHUB_TOKEN to have them'}
  state        ${STATE_FOLDER}/${goOn.length > 0 ? `, with ${goOn.length} unfinished jobs that go on now` : ''}

Send it a new issue of GitHub's example repository, from another terminal in this folder:

  npm run -s relay -- send issues
`);
  poll();

  const stop = async () => {
    clearInterval(sweeper);
    noteStopped();
    front.close();
    front.closeAllConnections();
    await source.stop();
    await Promise.all([stack.close(), sandbox?.close(), story.close()]);
    process.exit(0);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

start().catch((error: unknown) => {
  const port = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  console.error(
    port
      ? `Port ${process.env.PORT || DEFAULT_PORT} is taken; set PORT to another.`
      : String(error instanceof Error ? error.message : error),
  );
  process.exit(1);
});
