import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { keys } from '../lib/state/table/keys.ts';
import { createTable } from '../lib/state/table/table.ts';
import { TEAM_ID } from '../local/slack/workspace.ts';
import { type LocalStack, startLocalStack } from '../local/stack.ts';
import config from '../relay.config.ts';
import { type Bundle, bundleFunction, bundlePeer } from './bundle.ts';
import { onLambda } from './bundled-function.ts';
import { type ComparedColdStarts, compareColdStarts, PROCESSES, partsOf } from './cold-start.ts';
import { DONE, doneCommands, personOf, SIGNING_SECRET } from './done-command.ts';
import { amount, type Findings, percent } from './figures.ts';
import { installPeers, peerVersion } from './peers.ts';
import { functionEvent } from './signed-request.ts';
import { type ComparedWarm, compareWarm, WARM_EVENTS } from './warm.ts';

const AIM_KB = 320;
const AIM_COLD_RATIO = 0.7;
const AIM_WARM_MS = 100;
/** More than the commands of cold starts and warm events together. */
const PEOPLE = 1_000;
/** Bolt's index loads its receivers for Socket Mode and HTTP too, and they load these. */
const OF_OTHER_RECEIVERS = ['undici', 'iconv-lite'];

/**
 * The deployed function compared with the same command in Bolt: its size, the time from the start of the process
 * until the first command is answered, and the time of a command when it is warm.
 *
 * @throws {Error} if slack is missing in relay.config.ts
 */
export async function measureSlackWebhook(folder: string): Promise<Findings> {
  const { slack } = config;
  if (!slack) throw new Error('relay.config.ts has no slack to measure with');
  await installPeers();
  const here = await bundleFunction('slack-webhook', folder);
  const peer = await bundlePeer('bolt', folder);
  const stack = await startLocalStack({ tablePath: join(folder, 'slack-webhook') });
  try {
    stack.secrets.put(`${stack.secretPrefix}slack`, { signingSecret: SIGNING_SECRET, botToken: 'xoxb-of-the-bench' });
    await rememberPeople(stack);
    const text = `:hourglass_flowing_sand: Working on it: \`${slack.command} ${DONE}\``;
    const peerVariables = { NODE_ENV: 'production', SIGNING_SECRET, COMMAND: slack.command, ACKNOWLEDGEMENT: text };
    const isExpected = (answer: APIGatewayProxyStructuredResultV2) => saysText(answer, text);
    const compared = {
      here: { path: here.path, variables: onLambda(stack.variables), isExpected },
      peer: { path: peer.path, variables: peerVariables, isExpected },
    };
    const nextCommand = doneCommands(slack);
    let commands = 0;
    const nextEvent = () => {
      commands += 1;
      return functionEvent(nextCommand());
    };
    const coldStarts = await compareColdStarts(compared, nextEvent, folder);
    const warm = await compareWarm(compared, nextEvent);
    const queued = stack.queues.reduce((sum, { size }) => sum + size, 0);
    if (queued !== commands) throw new Error(`of ${commands} commands ${queued} became jobs`);
    return findings({ here, peer }, coldStarts, warm);
  } finally {
    await stack.close();
  }
}

/** Fills the cache as if everyone had given a command within the hour, so Slack is not asked about them. */
async function rememberPeople({ variables }: LocalStack): Promise<void> {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, TABLE_NAME } = variables;
  const credentials = { accessKeyId, secretAccessKey: variables.AWS_SECRET_ACCESS_KEY };
  const client = new DynamoDBClient({ endpoint, region: variables.AWS_REGION, credentials });
  const table = createTable(client, TABLE_NAME, Date.now);
  const now = Date.now();
  await table.put({ ...keys.slackWorkspace(), workspace: { team_id: TEAM_ID }, at: now });
  const expiresAt = Math.floor(now / 1000) + 3_600;
  for (let number = 1; number <= PEOPLE; number++) {
    await table.put({ ...keys.slackStanding(TEAM_ID, personOf(number)), standing: 'member', expiresAt });
  }
}

function saysText({ statusCode, body }: APIGatewayProxyStructuredResultV2, text: string): boolean {
  return statusCode === 200 && (JSON.parse(body ?? '') as { text?: string }).text === text;
}

function findings(
  bundles: { here: Bundle; peer: Bundle },
  coldStarts: ComparedColdStarts,
  warm: ComparedWarm,
): Findings {
  const { here, peer } = coldStarts;
  const kilobytes = bundles.here.bytes / 1_000;
  const peerKilobytes = bundles.peer.bytes / 1_000;
  const sizeRatio = kilobytes / peerKilobytes;
  const neededKilobytes = peerKilobytes - bundles.peer.bytesFrom(OF_OTHER_RECEIVERS) / 1_000;
  return {
    figures: [
      {
        name: 'slack-webhook at its start',
        unit: 'KB',
        here: kilobytes,
        peer: peerKilobytes,
        ratio: sizeRatio,
        aim: `under ${AIM_KB} KB`,
        met: kilobytes < AIM_KB,
      },
      {
        name: 'its import and first command',
        unit: 'ms',
        here: here.totalMs,
        peer: peer.totalMs,
        ratio: coldStarts.ratio,
        aim: `${AIM_COLD_RATIO * 100} % of the peer`,
        met: coldStarts.ratio <= AIM_COLD_RATIO,
      },
      {
        name: 'a command when warm',
        unit: 'ms',
        here: warm.hereMs,
        peer: warm.peerMs,
        ratio: warm.ratio,
        aim: `under ${AIM_WARM_MS} ms`,
        met: warm.hereMs < AIM_WARM_MS,
      },
    ],
    notes: [
      `slack-webhook: the peer is Bolt ${peerVersion('@slack/bolt')} with its AwsLambdaReceiver, bundled the same way, whose app says the same`,
      `  and does nothing: it has its signing secret from its environment, stores nothing and calls nobody`,
      `  cold: ${PROCESSES} fresh processes each, in turns; here ${partsOf(here)}, in which`,
      `  the secret is read and the job is stored and queued; peer ${partsOf(peer)}`,
      `  warm: ${WARM_EVENTS} commands each, in turns, in one process each; here each is stored and queued as well`,
      `  size: ${OF_OTHER_RECEIVERS.join(' and ')} come with receivers that the peer does not use, but loads; without them it would be`,
      `  ${amount(neededKilobytes, 'KB')}, of which here is ${percent(kilobytes / neededKilobytes)}`,
    ],
  };
}
