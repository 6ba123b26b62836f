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
import { exampleConfig, SIGNING_SECRET, WEBHOOK_SECRET } from '../test/relay.ts';
import { githubDelivery } from '../test/requests.ts';
import { doneCommand, TEAM_ID } from '../test/simulation/events.ts';
import { bundle, forPeer } from './bundle.ts';
import { amount, type Figure, median, medianRatio, type Options } from './figure.ts';
import peerManifest from './peers/package.json' with { type: 'json' };
import { installPeers } from './peers.ts';

/** The number of fresh processes for each function. */
const ROUNDS = 21;
const GIVE_UP_MS = 60_000;

/** A function to measure. */
interface Side {
  name: string;
  /** The file of the function, relative to this folder. */
  entry: string;
  /** Makes an event from a number. Each number gives a different event. */
  event(number: number): object;
  /** Matches the JSON of a good answer. */
  accepted: RegExp;
  /** The environment of a peer. Other functions get the relay's. */
  peerVariables?: Record<string, string>;
  aimKilobytes?: number;
}

const { dependencies: versions } = peerManifest;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PRIVATE_KEY = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();

const githubWebhook: Side = {
  name: 'github-webhook',
  entry: '../functions/github-webhook.ts',
  event: openedIssue,
  accepted: /"statusCode":202.*jobs/,
  aimKilobytes: 300,
};
const slackWebhook: Side = {
  name: 'slack-webhook',
  entry: '../functions/slack-webhook.ts',
  event: commandOfPerson,
  accepted: /Working on it/,
  aimKilobytes: 320,
};
/** Its app does nothing with opened issues. */
const probot: Side = {
  name: `Probot ${versions.probot}`,
  entry: 'peers/probot.ts',
  event: openedIssue,
  accepted: /"statusCode":200/,
  peerVariables: { NODE_ENV: 'production', APP_ID: '1', PRIVATE_KEY, WEBHOOK_SECRET },
};
/** Its app gives the same answer, but stores nothing and calls no service. */
const bolt: Side = {
  name: `Bolt ${versions['@slack/bolt']}`,
  entry: 'peers/bolt.ts',
  event: commandOfPerson,
  accepted: /Working on it/,
  peerVariables: { NODE_ENV: 'production', SIGNING_SECRET },
};
/** Contains only middy and the AWS clients of the webhooks. */
const baseline: Side = { name: 'baseline', entry: 'baseline.ts', event: openedIssue, accepted: /"statusCode":200/ };

/** Sides that are compared run one after the other, so that a slow phase of the machine affects both. */
const sides = [probot, githubWebhook, baseline, slackWebhook, bolt];
const ratios: readonly [Side, keyof FirstEvent, to: Side, atMost: number][] = [
  [githubWebhook, 'importMs', baseline, 1.35],
  [githubWebhook, 'totalMs', probot, 0.42],
  [slackWebhook, 'importMs', baseline, 1.4],
  [slackWebhook, 'totalMs', bolt, 0.7],
];

/**
 * Measures the sizes of the deployed functions, and how long fresh processes take to import them and answer an event.
 */
export async function* measureWebhooks({ folder, isTrial }: Options): AsyncGenerator<Figure> {
  if (!isTrial) await installPeers();
  const measuredSides = sides.filter(({ peerVariables }) => !isTrial || !peerVariables);
  const urls = new Map<Side, string>();
  for (const side of measuredSides) {
    const { url, kilobytes } = await bundle(side.entry, folder, side.peerVariables && forPeer);
    urls.set(side, url);
    const aim = side.aimKilobytes && { aim: { atMost: side.aimKilobytes } };
    yield { name: `${side.name} at its start`, value: kilobytes, unit: 'KB', ...aim };
  }
  const stack = await startLocalStack({ tablePath: join(folder, 'dynamodb') });
  try {
    await fillStack(stack);
    // As on Lambda when an event starts a function. The function then reads its secrets at once.
    const variables = { ...stack.variables, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' };
    const measured = new Map<Side, FirstEvent[]>(sides.map((side) => [side, []]));
    for (let round = 0; round <= (isTrial ? 1 : ROUNDS); round++) {
      for (const [side, url] of urls) {
        const event = await firstEvent(side, url, side.event(round), side.peerVariables ?? variables);
        // The first round does not count, because file caches and the stack were cold.
        if (round > 0) measured.get(side)?.push(event);
      }
    }
    for (const [side, what, to, atMost] of ratios) {
      const all = (of: Side) => measured.get(of)?.map((event) => event[what]) ?? [];
      yield {
        name: `${side.name}: ${what === 'importMs' ? 'import' : 'import and first event'}, of ${to.name}`,
        value: medianRatio(all(side), all(to)),
        aim: { atMost },
        detail: `${amount(median(all(side)), 'ms')} of ${amount(median(all(to)), 'ms')}`,
      };
    }
  } finally {
    await stack.close();
  }
}

interface FirstEvent {
  importMs: number;
  /** The time of the import and the event. */
  totalMs: number;
}

/**
 * Measures the first event of a fresh process.
 *
 * @param variables its only environment variables, as on Lambda: NODE_OPTIONS or a compile cache would distort the
 * result
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

/** Fills the stack with what the functions read: their secrets, and people's membership, so that Slack is not asked. */
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

/**
 * A different person for each few commands, because the relay limits commands per person, and asks before it repeats
 * one.
 */
function commandOfPerson(number: number): object {
  const responseUrl = 'https://hooks.slack.com/commands/1234/5678';
  const command = { userId: personOf(number), items: [101], triggerId: `trigger-${number}`, responseUrl };
  return doneCommand('main', command, Date.now());
}

function personOf(number: number): string {
  return `U0BENCH${number}`;
}
