import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import type { AuditEntry } from '../sandbox/store.ts';
import { issueEvent } from '../test/issue-events.ts';
import { exampleConfig } from '../test/relay.ts';
import { githubDelivery, WEBHOOK_SECRET } from '../test/requests.ts';
import { amount, type Figure, median, type Options } from './figure.ts';
import { installPeers } from './peers.ts';
import { startRedisQueue } from './redis-queue.ts';

const GIVE_UP_MS = 30_000;
const MINUTE_MS = 60_000;
const AIM_MS = 60;
const AIM_TIMES = 10;

const WARM_UP_EVENTS = 10;
/** With the warm-up, fewer events than the budget lets through at once. Each makes one call. */
const IDLE_EVENTS = 50;
/** Longer than a job takes, so the relay is idle at the next event. */
const PAUSE_MS = 250;
const BEFORE_SENDERS = WARM_UP_EVENTS + IDLE_EVENTS;

const SENDERS = 16;
const EVENTS = 600;
/** Counted from the start of the relay. */
const MEMORY_AFTER_EVENTS = 200;
const AIM_MEGABYTES = 200;

const MINUTES = 3;
/** The aim; the service allows 120. */
const AIM_PER_MINUTE = 114;

/** Measures `npm start` when it is idle, then under many senders, and then with the backlog that they leave. */
export async function* measureNpmStart({ folder, isTrial }: Options): AsyncGenerator<Figure> {
  const relay = await startRelayProcess(folder);
  try {
    if (isTrial) {
      yield { name: 'POST to a new relay', value: await postIssue(relay.webhook, 1), unit: 'ms' };
      return;
    }
    yield await measureIdle(relay);
    yield* measureSenders(relay, folder);
    yield* measureBacklog(relay);
  } finally {
    await relay.stop();
  }
}

async function measureIdle(relay: StartedRelay): Promise<Figure> {
  const answeredMs: number[] = [];
  const startedAt: number[] = [];
  for (let number = 1; number <= BEFORE_SENDERS; number++) {
    startedAt.push(Date.now());
    answeredMs.push(await postIssue(relay.webhook, number));
    await sleep(PAUSE_MS);
  }
  // The service notes the time of each call, so the bench need not watch.
  const calls = await relay.calls();
  const passedMs = startedAt.map((at, index) => Date.parse(calls[index]?.time ?? '') - at);
  return {
    name: 'POST to defect, idle',
    value: median(passedMs.slice(WARM_UP_EVENTS)),
    unit: 'ms',
    aim: { atMost: AIM_MS },
    detail: `answered after ${amount(median(answeredMs.slice(WARM_UP_EVENTS)), 'ms')}`,
  };
}

async function* measureSenders(relay: StartedRelay, folder: string): AsyncGenerator<Figure> {
  const idle = relay.residentMegabytes();
  let megabytes = idle;
  const here = await sendSideBySide(relay.webhook, BEFORE_SENDERS, (answered) => {
    if (BEFORE_SENDERS + answered === MEMORY_AFTER_EVENTS) megabytes = relay.residentMegabytes();
  });
  yield { name: `POST under ${SENDERS} senders`, value: here, unit: 'ms', aim: { atMost: AIM_MS } };
  yield {
    name: `memory after ${MEMORY_AFTER_EVENTS} events`,
    value: megabytes,
    unit: 'MB',
    aim: { atMost: AIM_MEGABYTES },
    detail: `before the senders ${amount(idle, 'MB')}, after all ${amount(relay.residentMegabytes(), 'MB')}`,
  };
  await installPeers();
  const queue = await startRedisQueue(folder);
  await sendSideBySide(queue.webhook, 0);
  const peer = await sendSideBySide(queue.webhook, EVENTS);
  await queue.stop();
  yield {
    name: `POST under ${SENDERS} senders, of BullMQ with Redis`,
    value: here / peer,
    aim: { atMost: AIM_TIMES },
    detail: `${amount(here, 'ms')} of ${amount(peer, 'ms')}`,
  };
}

/** @returns the median time of an answer, in milliseconds */
async function sendSideBySide(webhook: string, before: number, passed = (_answered: number) => {}): Promise<number> {
  let sent = 0;
  const passedMs: number[] = [];
  const send = async () => {
    while (sent < EVENTS) {
      sent += 1;
      passed(passedMs.push(await postIssue(webhook, before + sent)));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return median(passedMs);
}

/** Leaves out the first minute, when the senders were still active. */
async function* measureBacklog({ calls }: StartedRelay): AsyncGenerator<Figure> {
  const ofBacklog = async () => (await calls()).slice(BEFORE_SENDERS);
  const first = Date.parse((await ofBacklog())[0]?.time ?? '');
  await sleep(first + MINUTES * MINUTE_MS + 1_000 - Date.now());
  const made = await ofBacklog();
  const minutes = Array.from({ length: MINUTES }, (_, minute) => {
    const since = first + minute * MINUTE_MS;
    return made.filter(({ time }) => Date.parse(time) >= since && Date.parse(time) < since + MINUTE_MS).length;
  });
  yield {
    name: 'calls a minute for the backlog',
    value: Math.min(...minutes.slice(1)),
    aim: { atLeast: AIM_PER_MINUTE },
    detail: `limit 120; in each minute ${minutes.join(', ')}`,
  };
  const refused = made.filter(({ status }) => status === 429).length;
  yield { name: 'calls refused with 429', value: refused, aim: { atMost: 0 } };
}

type StartedRelay = Awaited<ReturnType<typeof startRelayProcess>>;

async function startRelayProcess(folder: string) {
  const config = join(folder, 'relay.config.ts');
  writeFileSync(config, `export default ${JSON.stringify(exampleConfig())};\n`);
  // Without npm, which would not pass on signals.
  const [, ...words] = packageJson.scripts.start.split(' ');
  // The relay runs in its own folder, so the repository's paths become absolute.
  const args = words.map((word) =>
    /\.[jt]s$/.test(word) ? fileURLToPath(new URL(`../${word}`, import.meta.url)) : word,
  );
  const child = spawn(process.execPath, [...args, '--verbose'], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: '0', RELAY_CONFIG: config, GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Also if the bench is interrupted.
  process.once('exit', () => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => {
    // Only the banner is needed, not the lines of the jobs after it.
    if (output.length < 10_000) output += chunk;
  });
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  while (!output.includes('state  ')) await once(child.stdout, 'data', { signal });
  const printed = (name: string) => new RegExp(`${name} +(\\S+)`).exec(output)?.[1] ?? '';
  return {
    webhook: printed('webhook'),
    /** The calls in the sandbox's audit trail. */
    async calls(): Promise<AuditEntry[]> {
      const answer = await fetch(`${printed('service')}/sandbox/audit`);
      return (await answer.json()) as AuditEntry[];
    },
    /** The memory of the relay, without its database process. */
    residentMegabytes(): number {
      const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' });
      return (Number(kilobytes) * 1_024) / 1e6;
    },
    async stop(): Promise<void> {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/**
 * Posts an event without `fetch`, which would take more of the measured machine.
 *
 * @returns the time until the answer, in milliseconds
 * @throws {Error} if the event makes no job
 */
async function postIssue(webhook: string, number: number): Promise<number> {
  const { headers, body } = githubDelivery('issues', issueEvent('opened', { id: number, from: Date.now() }));
  const startMs = performance.now();
  const [answer] = await once(request(webhook, { method: 'POST', headers }).end(body), 'response');
  const told = await text(answer);
  if (answer.statusCode !== 202 || told.includes('ignored')) {
    throw new Error(`the webhook answered ${answer.statusCode}: ${told}`);
  }
  return performance.now() - startMs;
}
