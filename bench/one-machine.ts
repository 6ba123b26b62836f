import { mkdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import config from '../relay.config.ts';
import { amount, type Findings } from './figures.ts';
import { median } from './measure.ts';
import { residentBytes, type StartedRelay, startRelayProcess } from './npm-start.ts';
import { openedIssues } from './opened-issue.ts';
import type { SignedRequest } from './signed-request.ts';

const SENDERS = 16;
const EVENTS = 600;
/** After so many events the memory is looked at. */
const MEMORY_AFTER_EVENTS = 200;
const AIM_MS = 60;
const AIM_MB = 200;
/** Of each, an issue as a backlog. */
const ISSUES = 400;
const MINUTES = 3;
const LIMIT_PER_MINUTE = 120;
const AIM_PER_MINUTE = 108;
const MINUTE_MS = 60_000;

/** How `npm start` answers webhooks that many senders post at once, and the memory that it takes. */
export async function measureOneMachine(folder: string): Promise<Findings> {
  mkdirSync(folder, { recursive: true });
  const relay = await startRelayProcess(folder);
  const pid = relay.process.pid ?? 0;
  try {
    await sleep(1_000);
    const idle = residentBytes(pid);
    let after = idle;
    const passedMs = await postAll(relay, EVENTS, (answered) => {
      if (answered === MEMORY_AFTER_EVENTS) after = residentBytes(pid);
    });
    const here = median(passedMs);
    const megabytes = after.own / 1e6;
    const memory = ({ own, children }: typeof idle) =>
      `${amount(own / 1e6, 'MB')}, and its database ${amount(children / 1e6, 'MB')}`;
    return {
      figures: [
        { name: `POST under ${SENDERS} senders`, unit: 'ms', here, aim: `under ${AIM_MS} ms`, met: here < AIM_MS },
        {
          name: `npm start after ${MEMORY_AFTER_EVENTS} events`,
          unit: 'MB',
          here: megabytes,
          aim: `under ${AIM_MB} MB`,
          met: megabytes < AIM_MB,
        },
      ],
      notes: [
        `npm start: ${EVENTS} events from ${SENDERS} senders; the relay takes ${memory(idle)} idle, ${memory(after)} after ${MEMORY_AFTER_EVENTS} events, and ${memory(residentBytes(pid))} after all`,
      ],
    };
  } finally {
    await relay.stop();
  }
}

/** How many of the calls that the service allows a backlog uses, on the clock of this machine. */
export async function measureCallsPerMinute(folder: string): Promise<Findings> {
  mkdirSync(folder, { recursive: true });
  const relay = await startRelayProcess(folder);
  try {
    await postAll(relay, ISSUES);
    const first = await firstCallAt(relay);
    await sleep(first + MINUTES * MINUTE_MS + 1_000 - Date.now());
    const calls = await callsOf(relay);
    const ofMinute = (minute: number) =>
      calls.filter(({ at }) => at >= first + minute * MINUTE_MS && at < first + (minute + 1) * MINUTE_MS).length;
    const minutes = Array.from({ length: MINUTES }, (_, minute) => ofMinute(minute));
    const here = Math.min(...minutes.slice(1));
    const refused = calls.filter(({ status }) => status === 429).length;
    return {
      figures: [
        {
          name: 'calls a minute, from the second on',
          unit: '/min',
          here,
          aim: `at least ${AIM_PER_MINUTE} of ${LIMIT_PER_MINUTE}, none refused`,
          met: here >= AIM_PER_MINUTE && refused === 0,
        },
      ],
      notes: [
        `Backlog: ${ISSUES} issues at once, the service counts a sliding minute; calls in each minute ${minutes.join(', ')}; ${refused} refused`,
      ],
    };
  } finally {
    await relay.stop();
  }
}

/** @returns how long each took, in milliseconds */
async function postAll({ url }: StartedRelay, count: number, answered: (count: number) => void = () => {}) {
  const nextIssue = openedIssues(config);
  const agent = new Agent({ keepAlive: true });
  const passedMs: number[] = [];
  let sent = 0;
  const send = async () => {
    while (sent < count) {
      sent += 1;
      const issue = nextIssue();
      const startMs = performance.now();
      await post(url, issue, agent);
      answered(passedMs.push(performance.now() - startMs));
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  agent.destroy();
  return passedMs;
}

/** Without `fetch`, which takes more of the machine that is measured. @throws {Error} where no job comes of it */
function post(url: string, { body, headers }: SignedRequest, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', headers, agent }, async (answer) => {
      const told = await text(answer).catch(reject);
      if (answer.statusCode === 202 && !told?.includes('ignored')) resolve();
      else reject(new Error(`the webhook answered ${answer.statusCode}: ${told}`));
    })
      .once('error', reject)
      .end(body);
  });
}

/** The calls of the service that it remembers, in epoch milliseconds. */
async function callsOf({ service }: StartedRelay): Promise<{ at: number; status: number | null }[]> {
  const audit = (await (await fetch(`${service}/sandbox/audit`)).json()) as { time: string; status: number | null }[];
  return audit.map(({ time, status }) => ({ at: Date.parse(time), status }));
}

async function firstCallAt(relay: StartedRelay): Promise<number> {
  for (;;) {
    const [first] = await callsOf(relay);
    if (first) return first.at;
    await sleep(100);
  }
}
