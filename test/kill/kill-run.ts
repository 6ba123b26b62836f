import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isOver, type Job, newsOf, waitOf } from '../../lib/engine/record/job.ts';
import { listen } from '../../local/listen.ts';
import type { Data } from '../../sandbox/records.ts';
import { defaultKey } from '../../sandbox/sandbox.ts';
import { type Child, startChild } from '../child.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT } from '../relay.ts';
import { githubDelivery, WEBHOOK_SECRET } from '../requests.ts';
import { seededRandom } from '../service/budget/virtual-time.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const REPOSITORY = 'Codertocat/Hello-World';
const STARTED = /Partner Relay runs on this machine/;
const SENDERS = 6;
const DAY_MS = 86_400_000;
/** Of the issues, one in so many is edited, and one in so many events is told twice. */
const EDITED_ONE_IN = 10;
const REPEATED_ONE_IN = 10;
/** The longest life of a relay from the moment at which it listens. */
const LONGEST_LIFE_MS = 1_500;
/** A kill before it listens comes within so long of the start. */
const LONGEST_START_MS = 1_000;
/** Nothing in the relay waits longer when only the relay is killed: a worker's lease, and then the sweep's minute. */
const PATIENCE_MS = 150_000;

export interface KillOptions {
  seed: number;
  kills: number;
  events: number;
  print: (line: string) => void;
}

interface Event {
  payload: object;
  /** Answered with 2xx. */
  accepted: boolean;
}

/**
 * `npm start` under a stream of signed events, killed again and again, with the sandbox as a process of its own that is
 * not. What is not answered with 2xx is sent again, as GitHub's redelivery would.
 *
 * @returns what does not hold; nothing where every accepted event has its one defect
 */
export async function killAgainAndAgain({ seed, kills, events, print }: KillOptions): Promise<string[]> {
  const random = seededRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), 'partner-relay-kill-'));
  const github = await startGithubApi(Date.now);
  const children: Child[] = [];
  const start = (words: readonly string[], variables: Record<string, string> = {}) => {
    const child = startChild(words, folder, variables);
    children.push(child);
    return child;
  };
  try {
    const limits = ['--limit-per-minute', '1000000', '--limit-per-day', '1000000'];
    const sandbox = start([join(root, 'sandbox/start.ts'), '--port', '0', '--data', 'sandbox.jsonl', ...limits]);
    const [, service = ''] = await sandbox.printed(/base URL +(\S+)/);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/github`;
    const variables = {
      PORT: String(port),
      RELAY_CONFIG: await writeConfig(folder, github.url),
      PARTNER_BASE_URL: service,
      PARTNER_API_KEY: defaultKey.apiKey,
      PARTNER_SECRET_KEY: defaultKey.secretKey,
      GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
      GITHUB_TOKEN: 'ghp_kill',
    };
    const startRelay = () => start([join(root, 'cli/start.ts')], variables);

    const { stream, lastTitles } = makeStream(events, random);
    let killed = 0;
    let sent = 0;
    let refused = 0;
    /** The stream lasts as long as the killing. */
    const released = () => Math.ceil((stream.length * (killed + 1)) / (kills + 1));
    let next = 0;
    const senders = Array.from({ length: SENDERS }, async () => {
      while (next < stream.length) {
        if (next >= released()) {
          await sleep(20);
          continue;
        }
        const event = stream[next++];
        while (event && !event.accepted) {
          sent += 1;
          event.accepted = await post(url, event.payload);
          if (event.accepted) continue;
          refused += 1;
          await sleep(100);
        }
        await sleep(random() * 40);
      }
    });

    let relay = startRelay();
    while (killed < kills) {
      if (random() < 0.8) {
        await relay.printed(STARTED);
        await sleep(random() * LONGEST_LIFE_MS);
      } else {
        await sleep(random() * LONGEST_START_MS);
      }
      await relay.kill();
      killed += 1;
      print(`kill ${killed}: ${stream.filter((event) => event.accepted).length} of ${stream.length} events accepted`);
      relay = startRelay();
    }
    await Promise.all(senders);
    print(`${stream.length} events of ${events} issues in ${sent} deliveries, of which ${refused} were not accepted`);

    await relay.printed(STARTED);
    const read = async () => (await (await fetch(`${service}/sandbox/data`)).json()) as Data;
    const jobs = () => listJobs(folder, variables);
    const unfinished = async () => (await jobs()).filter((job) => job.status !== 'parked' && !hasDone(job));
    const faultsNow = async () => findFaults(await read(), github.comments, lastTitles);
    for (let since = Date.now(), before = ''; Date.now() < since + PATIENCE_MS; await sleep(1_000)) {
      const open = await unfinished();
      if (open.length === 0 && (await faultsNow()).length === 0) break;
      const now = open.map(({ id, status, generation }) => `${id} ${status} ${generation}`).join();
      if (now !== before) since = Date.now();
      before = now;
    }
    const faults = await faultsNow();
    const ended = await jobs();
    for (const job of ended) {
      if (hasDone(job)) continue;
      faults.push(`${job.entity}: ${job.id} is ${job.status}: ${newsOf(job)}`);
    }
    const count = (holds: (job: Job) => boolean) => ended.filter(holds).length;
    print(
      `${ended.length} jobs: ${count((job) => isOver(job))} done or not done, ${count((job) => job.status === 'parked')} parked; ` +
        `${count((job) => job.attempts > 0)} were killed at work and ${count((job) => job.generation > 1)} were queued again`,
    );
    print(`${lastTitles.size} issues, ${faults.length} faults, seed ${seed}`);
    return faults;
  } finally {
    await Promise.all(children.map((child) => child.kill()));
    await github.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The events in the order in which they are sent first, and the title that each issue has in the end. */
function makeStream(issues: number, random: () => number): { stream: Event[]; lastTitles: Map<number, string> } {
  const stream: Event[] = [];
  const lastTitles = new Map<number, string>();
  // The relay has the real clock.
  const from = Date.now() - DAY_MS;
  const add = (action: string, issue: number, seconds: number, title: string) => {
    const payload = issueEvent(action, { id: issue, from, seconds, title });
    stream.push({ payload, accepted: false });
    if (random() * REPEATED_ONE_IN < 1) stream.push({ payload, accepted: false });
    lastTitles.set(issue, title);
  };
  for (let issue = 1; issue <= issues; issue++) {
    add('opened', issue, 0, `Issue ${issue}, opened`);
    // An issue from before, so that its defect may be made, in the making or still to make.
    const earlier = 1 + Math.floor(random() * issue);
    if (random() * EDITED_ONE_IN < 1 && lastTitles.get(earlier)?.endsWith('opened')) {
      add('edited', earlier, 1, `Issue ${earlier}, edited`);
    }
  }
  return { stream, lastTitles };
}

/** After a kill during an update, a job waits for minutes before it applies the update once more. */
function hasDone(job: Job): boolean {
  return isOver(job) || waitOf(job)?.why.includes('may still arrive') === true;
}

function findFaults(
  { defects }: Data,
  comments: readonly { issue: string }[],
  lastTitles: ReadonlyMap<number, string>,
): string[] {
  return [...lastTitles].flatMap(([issue, title]) => {
    const name = `${REPOSITORY}#${issue}`;
    const made = defects.filter(({ description }) =>
      description.includes(`https://github.com/${REPOSITORY}/issues/${issue}\n`),
    );
    const replies = comments.filter((comment) => comment.issue === name);
    return [
      ...(made.length === 1 ? [] : [`${name} has ${made.length} defects`]),
      ...(made.length === 1 && made[0]?.title !== title ? [`${name} looks like '${made[0]?.title}'`] : []),
      ...(replies.length === 1 ? [] : [`${name} has ${replies.length} comments`]),
    ];
  });
}

async function writeConfig(folder: string, apiUrl: string): Promise<string> {
  const repositories = [
    {
      name: REPOSITORY,
      connection: 'main',
      issueToDefect: { projectId: PROJECT },
      issueToTask: { projectId: PROJECT },
    },
  ];
  const connections = { main: {} };
  const file = join(folder, 'relay.config.mjs');
  await writeFile(file, `export default ${JSON.stringify({ connections, github: { apiUrl, repositories } })};\n`);
  return file;
}

/** @returns whether it was accepted */
async function post(url: string, payload: object): Promise<boolean> {
  const { headers, body } = githubDelivery('issues', payload);
  try {
    const answer = await fetch(url, { method: 'POST', headers, body });
    await answer.text();
    return answer.ok;
  } catch {
    // Killed meanwhile, or not there.
    return false;
  }
}

async function listJobs(cwd: string, variables: Record<string, string>): Promise<Job[]> {
  const words = [join(root, 'cli/relay.ts'), 'jobs', '--limit', '100000', '--json'];
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 1024 ** 3 };
  return JSON.parse((await promisify(execFile)(process.execPath, words, options)).stdout);
}

/** One that is free now: it must stay the same over the restarts, for it stands in the senders' URL. */
async function freePort(): Promise<number> {
  const { url, close } = await listen(createServer());
  await close();
  return Number(new URL(url).port);
}
