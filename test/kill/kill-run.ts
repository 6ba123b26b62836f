import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isOver, type Job, newsOf, waitOf } from '../../lib/engine/record/job.ts';
import type { Data } from '../../sandbox/records.ts';
import { defaultKey, startSandbox } from '../../sandbox/sandbox.ts';
import { freePort } from '../aws/emulator.ts';
import { startChild } from '../child.ts';
import { startGithubApi } from '../github-api.ts';
import { issueEvent } from '../issue-events.ts';
import { PROJECT } from '../relay.ts';
import { githubDelivery, WEBHOOK_SECRET } from '../requests.ts';
import { seededRandom } from '../service/budget/virtual-time.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const REPOSITORY = 'Codertocat/Hello-World';
const STARTED = /Partner Relay is running on this machine/;
const DAY_MS = 86_400_000;
/** One in this many issues is edited, and one in this many events is delivered twice. */
const EDITED_ONE_IN = 10;
const REPEATED_ONE_IN = 10;
/** The longest life of a relay after it listens. */
const LONGEST_LIFE_MS = 1_500;
/** The latest kill before the relay listens, counted from the start. */
const LONGEST_START_MS = 1_000;
/** The longest wait in the relay after a kill: a worker's lease, and then the sweep's minute. */
const PATIENCE_MS = 150_000;

export interface KillOptions {
  seed: number;
  kills: number;
  events: number;
  print: (line: string) => void;
}

/**
 * Kills `npm start` again and again under a stream of signed events. Events without a 2xx are sent again, as GitHub's
 * redelivery would.
 *
 * @returns the broken promises; empty if every accepted event has one defect
 */
export async function killAgainAndAgain({ seed, kills, events, print }: KillOptions): Promise<string[]> {
  const random = seededRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), 'partner-relay-kill-'));
  const github = await startGithubApi(Date.now);
  const sandbox = await startSandbox({ rateLimit: { perMinute: 1_000_000, perDay: 1_000_000 } });
  const port = await freePort();
  const variables = {
    PORT: String(port),
    RELAY_CONFIG: await writeConfig(folder, github.url),
    PARTNER_BASE_URL: sandbox.url,
    PARTNER_API_KEY: defaultKey.apiKey,
    PARTNER_SECRET_KEY: defaultKey.secretKey,
    GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
    GITHUB_TOKEN: 'ghp_kill',
  };
  const startRelay = () => startChild([join(root, 'cli/bin.js'), 'start'], folder, variables);
  let relay = startRelay();
  try {
    const { stream, lastTitles } = makeStream(events, random);
    let sent = 0;
    async function send(payload: object): Promise<void> {
      await sleep(random() * LONGEST_LIFE_MS);
      for (sent++; !(await post(`http://127.0.0.1:${port}/github`, payload)); sent++) await sleep(100);
    }
    const sending: Promise<void>[] = [];
    for (let killed = 0; killed <= kills; killed++) {
      const listens = killed < kills && random() < 0.8;
      if (listens) await relay.printed(STARTED);
      // The stream lasts as long as the kills.
      const until = Math.ceil((stream.length * (killed + 1)) / (kills + 1));
      sending.push(...stream.slice(sending.length, until).map(send));
      if (killed === kills) break;
      await sleep(random() * (listens ? LONGEST_LIFE_MS : LONGEST_START_MS));
      await relay.kill();
      print(`kill ${killed + 1}, after ${until} of ${stream.length} events`);
      relay = startRelay();
    }
    await Promise.all(sending);
    print(`${stream.length} events of ${events} issues in ${sent} deliveries`);

    await relay.printed(STARTED);
    const faultsNow = () => findFaults(sandbox.data, github.comments, lastTitles);
    let jobs = await listJobs(folder, variables);
    for (let since = Date.now(), before = ''; Date.now() < since + PATIENCE_MS; await sleep(1_000)) {
      const open = jobs.filter((job) => job.status !== 'parked' && !hasDone(job));
      if (open.length === 0 && faultsNow().length === 0) break;
      const now = open.map(({ id, status, generation }) => `${id} ${status} ${generation}`).join();
      if (now !== before) since = Date.now();
      before = now;
      jobs = await listJobs(folder, variables);
    }
    const count = (holds: (job: Job) => boolean) => jobs.filter(holds).length;
    print(
      `${jobs.length} jobs: ${count(isOver)} done or not done, ${count((job) => job.status === 'parked')} parked; ` +
        `${count((job) => job.attempts > 0)} were killed at work and ${count((job) => job.generation > 1)} were queued again`,
    );
    const left = jobs.filter((job) => !hasDone(job));
    return [...faultsNow(), ...left.map((job) => `${job.entity}: ${job.id} is ${job.status}: ${newsOf(job)}`)];
  } finally {
    await relay.kill();
    await Promise.all([github.close(), sandbox.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The events in the order of their first sends, and the final title of each issue. */
function makeStream(issues: number, random: () => number): { stream: object[]; lastTitles: Map<number, string> } {
  const stream: object[] = [];
  const lastTitles = new Map<number, string>();
  // The relay uses the real clock.
  const from = Date.now() - DAY_MS;
  const add = (action: string, issue: number, seconds: number, title: string) => {
    const payload = issueEvent(action, { id: issue, from, seconds, title });
    stream.push(payload);
    if (random() * REPEATED_ONE_IN < 1) stream.push(payload);
    lastTitles.set(issue, title);
  };
  for (let issue = 1; issue <= issues; issue++) {
    add('opened', issue, 0, `Issue ${issue}, opened`);
    // An earlier issue, whose defect may exist, be under way, or not have begun.
    const earlier = 1 + Math.floor(random() * issue);
    if (random() * EDITED_ONE_IN < 1 && lastTitles.get(earlier)?.endsWith('opened')) {
      add('edited', earlier, 1, `Issue ${earlier}, edited`);
    }
  }
  return { stream, lastTitles };
}

/** Whether a job is done. After a kill during an update, it waits for minutes before it repeats the update. */
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

/** @returns whether the relay accepted it */
async function post(url: string, payload: object): Promise<boolean> {
  const { headers, body } = githubDelivery('issues', payload);
  try {
    const answer = await fetch(url, { method: 'POST', headers, body });
    await answer.text();
    return answer.ok;
  } catch {
    // The relay was killed meanwhile, or does not run.
    return false;
  }
}

async function listJobs(cwd: string, variables: Record<string, string>): Promise<Job[]> {
  const words = [join(root, 'cli/bin.js'), 'jobs', '--limit', '100000', '--json'];
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 1024 ** 3 };
  return JSON.parse((await promisify(execFile)(process.execPath, words, options)).stdout);
}
