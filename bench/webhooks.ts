import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openStores, systemRuntime } from '../lib/runtime.ts';
import { keys } from '../lib/state/table/keys.ts';
import { functionUrlEvent } from '../local/http-front.ts';
import { type LocalStack, startLocalStack } from '../local/stack.ts';
import { issueEvent } from '../test/issue-events.ts';
import { githubDelivery } from '../test/kill/incoming.ts';
import { exampleConfig, WEBHOOK_SECRET } from '../test/relay.ts';
import { doneCommand, SIGNING_SECRET, TEAM_ID } from '../test/simulation/events.ts';
import { bundle, forPeer } from './bundle.ts';
import { amount, type Figure, median, medianRatio, type Options } from './figure.ts';
import peerManifest from './peers/package.json' with { type: 'json' };
import { installPeers } from './peers.ts';

/** Fresh processes of each function. */
const ROUNDS = 21;
const GIVE_UP_MS = 60_000;
const AIM_MEGABYTES = 100;

/** A function to measure. */
interface Side {
  name: string;
  /** Its file, relative to this folder. */
  entry: string;
  /** Each number is an event of its own. */
  event(number: number): object;
  /** What a good answer has, as JSON. */
  accepted: RegExp;
  /** The environment of a peer. Other functions get that of the relay's. */
  peerVariables?: Record<string, string>;
}

const { dependencies: versions } = peerManifest;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PRIVATE_KEY = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

const githubWebhook: Side = {
  name: 'github-webhook',
  entry: '../functions/github-webhook.ts',
  event: openedIssue,
  accepted: /"statusCode":202.*jobs/,
};
const slackWebhook: Side = {
  name: 'slack-webhook',
  entry: '../functions/slack-webhook.ts',
  event: commandOfPerson,
  accepted: /Working on it/,
};
/** Its app takes opened issues and does nothing with them. */
const probot: Side = {
  name: `Probot ${versions.probot}`,
  entry: 'peers/probot.ts',
  event: openedIssue,
  accepted: /"statusCode":200/,
  peerVariables: { NODE_ENV: 'production', APP_ID: '1', PRIVATE_KEY, WEBHOOK_SECRET },
};
/** Its app gives the same answer, stores nothing and calls nobody. */
const bolt: Side = {
  name: `Bolt ${versions['@slack/bolt']}`,
  entry: 'peers/bolt.ts',
  event: commandOfPerson,
  accepted: /Working on it/,
  peerVariables: { NODE_ENV: 'production', SIGNING_SECRET },
};
/** @middy/core and the clients of DynamoDB, Secrets Manager and SQS alone. */
const baseline: Side = {
  name: 'the baseline',
  entry: 'baseline.ts',
  event: openedIssue,
  accepted: /"statusCode":200/,
};

const sizes: readonly [Side, atMostKilobytes?: number][] = [
  [githubWebhook, 300],
  [slackWebhook, 320],
  [probot],
  [bolt],
  [baseline],
];
const ratios: readonly [Side, 'importMs' | 'totalMs', to: Side, atMost: number][] = [
  [githubWebhook, 'totalMs', probot, 0.42],
  [githubWebhook, 'importMs', baseline, 1.35],
  [slackWebhook, 'totalMs', bolt, 0.7],
  [slackWebhook, 'importMs', baseline, 1.4],
];
const meaning = { importMs: 'import', totalMs: 'import and first event' } as const;

/** Sizes of the deployed functions, and the time that fresh processes take to import them and to answer an event. */
export async function* measureWebhooks({ folder }: Options): AsyncGenerator<Figure> {
  await installPeers();
  const urls = new Map<Side, string>();
  for (const [side, atMost] of sizes) {
    const { url, kilobytes } = await bundle(side.entry, folder, side.peerVariables && forPeer);
    urls.set(side, url);
    yield { name: `${side.name} at its start`, value: kilobytes, unit: 'KB', ...(atMost && { aim: { atMost } }) };
  }
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb') });
  try {
    await fillStack(stack);
    // Lambda says that it starts a function for an event, and the function then reads its secrets at once.
    const variables = { ...stack.variables, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' };
    const measured = new Map<Side, FirstEvent[]>([...urls.keys()].map((side) => [side, []]));
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [side, url] of urls) {
        const event = await firstEvent(side, url, side.event(round), side.peerVariables ?? variables);
        // The first ones are ignored, because file caches and the stack were cold.
        if (round > 0) measured.get(side)?.push(event);
      }
    }
    yield* compare((side, what) => measured.get(side)?.map((event) => event[what]) ?? []);
  } finally {
    await stack.close();
  }
}

function* compare(all: (side: Side, what: keyof FirstEvent) => number[]): Generator<Figure> {
  for (const [side, what, to, atMost] of ratios) {
    const [here, peer] = [all(side, what), all(to, what)];
    yield {
      name: `${side.name}: ${meaning[what]}, of ${to.name}`,
      value: medianRatio(here, peer),
      aim: { atMost },
      detail: `${amount(median(here), 'ms')} of ${amount(median(peer), 'ms')}`,
    };
  }
  for (const side of [githubWebhook, slackWebhook]) {
    const value = median(all(side, 'residentMegabytes'));
    yield { name: `${side.name}: resident memory then`, value, unit: 'MB', aim: { atMost: AIM_MEGABYTES } };
  }
}

interface FirstEvent {
  importMs: number;
  /** Import and event. */
  totalMs: number;
  residentMegabytes: number;
}

/**
 * @param variables its only environment variables, as on Lambda: NODE_OPTIONS or a compile cache would distort the result
 * @throws {Error} if the answer is not a good one, because the measurement would be meaningless
 */
async function firstEvent(
  { name, accepted }: Side,
  url: string,
  event: object,
  variables: Record<string, string>,
): Promise<FirstEvent> {
  const script = fileURLToPath(new URL('first-event.mjs', import.meta.url));
  const options = { env: variables, timeout: GIVE_UP_MS };
  const { stdout } = await promisify(execFile)(process.execPath, [script, url, JSON.stringify(event)], options);
  const { answer, ...measured } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  const told = JSON.stringify(answer);
  if (!accepted.test(told)) throw new Error(`${name} answered ${told}`);
  return measured;
}

/** Puts in what the functions read: their secrets, and that people are members, so that Slack is not asked. */
async function fillStack({ secrets, secretPrefix, variables }: LocalStack): Promise<void> {
  secrets.put(`${secretPrefix}github-webhook`, { webhookSecret: WEBHOOK_SECRET });
  secrets.put(`${secretPrefix}slack`, { signingSecret: SIGNING_SECRET, botToken: 'xoxb-of-the-bench' });
  Object.assign(process.env, variables);
  const { table } = openStores(systemRuntime(exampleConfig(), process.env));
  const now = Date.now();
  await table.put({ ...keys.slackWorkspace(), workspace: { team_id: TEAM_ID }, at: now });
  const expiresAt = Math.floor(now / 1_000) + 3_600;
  for (let number = 0; number <= ROUNDS; number++) {
    await table.put({ ...keys.slackStanding(TEAM_ID, personOf(number)), standing: 'member', expiresAt });
  }
}

function openedIssue(number: number): object {
  const { url, headers, body } = githubDelivery('issues', issueEvent('opened', { id: number, from: Date.now() }));
  return functionUrlEvent({ method: 'POST', headers, url }, url, body);
}

/** The relay takes a few commands of each person at a time, and asks before it repeats one. */
function commandOfPerson(number: number): object {
  const responseUrl = 'https://hooks.slack.com/commands/1234/5678';
  const command = { userId: personOf(number), items: [101], triggerId: `trigger-${number}`, responseUrl };
  return doneCommand('main', command, Date.now());
}

function personOf(number: number): string {
  return `U0BENCH${number}`;
}
