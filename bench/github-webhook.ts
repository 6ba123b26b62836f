import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { startLocalStack } from '../local/stack.ts';
import config from '../relay.config.ts';
import { bundleFunction, bundlePeer } from './bundle.ts';
import { onLambda } from './bundled-function.ts';
import { type ComparedColdStarts, compareColdStarts, PROCESSES, partsOf } from './cold-start.ts';
import type { Findings } from './figures.ts';
import { openedIssues, WEBHOOK_SECRET } from './opened-issue.ts';
import { installPeers, peerVersion } from './peers.ts';
import { functionEvent } from './signed-request.ts';

const AIM_KB = 300;
const AIM_MB = 100;
const AIM_RATIO = 0.42;

/** The deployed function: its size, and the time from the start of the process until the first delivery is answered. */
export async function measureGithubWebhook(folder: string): Promise<Findings> {
  await installPeers();
  const here = await bundleFunction('github-webhook', folder);
  const peer = await bundlePeer('probot', folder);
  const stack = await startLocalStack({ tablePath: join(folder, 'github-webhook') });
  try {
    stack.secrets.put(`${stack.secretPrefix}github-webhook`, { webhookSecret: WEBHOOK_SECRET });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const peerVariables = {
      NODE_ENV: 'production',
      APP_ID: '1',
      PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      WEBHOOK_SECRET,
    };
    const nextIssue = openedIssues(config);
    const coldStarts = await compareColdStarts(
      {
        here: { path: here.path, variables: onLambda(stack.variables), isExpected: isAccepted },
        peer: { path: peer.path, variables: peerVariables, isExpected: ({ statusCode }) => statusCode === 200 },
      },
      () => functionEvent(nextIssue()),
      folder,
    );
    return findings(here.bytes, peer.bytes, coldStarts);
  } finally {
    await stack.close();
  }
}

/** Ignored deliveries are answered with 202 too, so the body must be checked. */
function isAccepted({ statusCode, body }: APIGatewayProxyStructuredResultV2): boolean {
  return statusCode === 202 && !(JSON.parse(body ?? '') as { ignored?: string }).ignored;
}

function findings(hereBytes: number, peerBytes: number, coldStarts: ComparedColdStarts): Findings {
  const { here, peer, ratio } = coldStarts;
  const kilobytes = hereBytes / 1_000;
  const megabytes = here.residentBytes / 1e6;
  return {
    figures: [
      {
        name: 'github-webhook at its start',
        unit: 'KB',
        here: kilobytes,
        peer: peerBytes / 1_000,
        ratio: hereBytes / peerBytes,
        aim: `under ${AIM_KB} KB`,
        met: kilobytes < AIM_KB,
      },
      {
        name: 'its import and first event',
        unit: 'ms',
        here: here.totalMs,
        peer: peer.totalMs,
        ratio,
        aim: `${AIM_RATIO * 100} % of the peer`,
        met: ratio <= AIM_RATIO,
      },
      {
        name: 'its resident memory then',
        unit: 'MB',
        here: megabytes,
        peer: peer.residentBytes / 1e6,
        ratio: here.residentBytes / peer.residentBytes,
        aim: `under ${AIM_MB} MB`,
        met: megabytes < AIM_MB,
      },
    ],
    notes: [
      `github-webhook: the peer is Probot ${peerVersion('probot')} with its Lambda adapter ${peerVersion('@probot/adapter-aws-lambda-serverless')},`,
      `  bundled the same way, whose app does nothing; ${PROCESSES} fresh processes each, in turns`,
      `  here ${partsOf(here)}, in which the event is stored and queued; peer ${partsOf(peer)}`,
    ],
  };
}
