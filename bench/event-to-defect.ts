import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { defineConfig } from '../lib/config/schema.ts';
import { type Runtime, systemRuntime } from '../lib/runtime.ts';
import { asSqsHandler, startEventSource } from '../local/event-source.ts';
import { asHttpHandler, startHttpFront } from '../local/http-front.ts';
import { startLocalStack } from '../local/stack.ts';
import { startSandbox } from '../sandbox/sandbox.ts';
import { amount, type Findings } from './figures.ts';
import { median } from './measure.ts';
import { openedIssues, WEBHOOK_SECRET } from './opened-issue.ts';

const EVENTS = 40;
const WARM_UP_EVENTS = 10;
const AIM_MS = 60;
/** Longer than any job should take. */
const GIVE_UP_MS = 10_000;
/** Few enough that the budget, which would delay the 109th event of a minute, never delays one. */
const LIMITS = { perMinute: 100_000, perDay: 100_000 };

const config = defineConfig({
  connections: { main: { limits: LIMITS } },
  github: {
    repositories: [
      {
        name: 'Codertocat/Hello-World',
        connection: 'main',
        issueToDefect: { projectId: '6f1c2d7e-3b58-4c0a-9d41-7a5e8b2f1c01' },
      },
    ],
  },
});

/** Milliseconds since just before the POST. */
interface Passed {
  queued: number;
  answered: number;
  defect: number;
}

/**
 * How long an issue takes to become a defect where nothing else is to be done: over HTTP and with everything on disk as
 * `npm start` has it, in one process.
 */
export async function measureEventToDefect(folder: string): Promise<Findings> {
  let queueChanged = () => {};
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb'), queueChanged: () => queueChanged() });
  const sandbox = await startSandbox({ dataFile: join(folder, 'sandbox.jsonl'), rateLimit: LIMITS });
  stack.secrets.put(`${stack.secretPrefix}partner/main`, { baseUrl: sandbox.url, ...sandbox.keys[0] });
  stack.secrets.put(`${stack.secretPrefix}github-webhook`, { webhookSecret: WEBHOOK_SECRET });
  stack.secrets.put(`${stack.secretPrefix}github`, {});
  // The AWS SDK finds the stack by these, and the functions read them when they are imported.
  Object.assign(process.env, stack.variables);
  const [webhook, worker] = await Promise.all([
    import('../functions/github-webhook.ts'),
    import('../functions/job-worker.ts'),
  ]);
  const failures: unknown[] = [];
  const failed = (line: unknown) => void failures.push(line);
  const runtime: Runtime = {
    ...systemRuntime(config, process.env),
    log: { info: () => {}, warn: failed, error: failed },
    metrics: { record: () => {} },
  };
  const source = startEventSource(stack.queues, asSqsHandler(worker.createHandler(runtime)), {
    maxConcurrency: () => 10,
    timeoutMs: 60_000,
    failed,
  });
  const front = await startHttpFront(0, {
    'POST /github': asHttpHandler(webhook.createHandler(runtime)),
  });
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/github`;
  const nextIssue = openedIssues(config);

  async function until(reached: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!reached()) {
      if (failures.length > 0) throw new Error('a function failed', { cause: failures[0] });
      if (performance.now() > giveUpAt) throw new Error(`nothing came of an event within ${GIVE_UP_MS / 1_000} s`);
      await setImmediate();
    }
  }

  async function oneEvent(): Promise<Passed> {
    const defects = sandbox.data.defects.length;
    const { body, headers } = nextIssue();
    let queuedMs: number | undefined;
    queueChanged = () => {
      queuedMs ??= performance.now();
      source.poll();
    };
    const startMs = performance.now();
    let answeredMs = startMs;
    const posted = fetch(url, { method: 'POST', headers, body })
      .then(async (response) => {
        answeredMs = performance.now();
        if (response.status !== 202) failed(`the webhook answered ${response.status}`);
        await response.arrayBuffer();
      })
      .catch(failed);
    await until(() => sandbox.data.defects.length > defects);
    const defectMs = performance.now();
    await posted;
    // Idle again: the worker is done with the job, and its message is deleted.
    await until(() => stack.queues.every((queue) => queue.size === 0));
    return { queued: (queuedMs ?? startMs) - startMs, answered: answeredMs - startMs, defect: defectMs - startMs };
  }

  try {
    for (let i = 0; i < WARM_UP_EVENTS; i++) await oneEvent();
    const passed: Passed[] = [];
    for (let i = 0; i < EVENTS; i++) passed.push(await oneEvent());
    return findings(passed);
  } finally {
    await source.stop();
    front.close();
    front.closeAllConnections();
    await Promise.all([once(front, 'close'), stack.close(), sandbox.close()]);
  }
}

function findings(passed: readonly Passed[]): Findings {
  const here = median(passed.map(({ defect }) => defect));
  const at = (moment: keyof Passed) => amount(median(passed.map((one) => one[moment])), 'ms');
  return {
    figures: [{ name: 'POST to defect, idle', unit: 'ms', here, aim: `under ${AIM_MS} ms`, met: here < AIM_MS }],
    notes: [
      `POST to defect: ${EVENTS} events one by one; queued after ${at('queued')}, answered after ${at('answered')}, defect after ${at('defect')}`,
    ],
  };
}
