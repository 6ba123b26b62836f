import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleAliases } from '../infra/bundle/options.ts';
import { functionUrlEvent } from '../local/http-front.ts';
import { startLocalStack } from '../local/stack.ts';
import config from '../relay.config.ts';
import { bundle } from './bundle.ts';
import { amount, type Findings } from './figures.ts';
import type { FirstEvent } from './first-event.ts';
import { median } from './measure.ts';
import { openedIssues, type SignedDelivery, WEBHOOK_SECRET } from './opened-issue.ts';
import { installPeers, peerVersion } from './peers.ts';

const PROCESSES = 21;
const AIM_KB = 500;
const AIM_MB = 100;
const AIM_RATIO = 0.5;
const GIVE_UP_MS = 60_000;

/**
 * Probot and what it logs with are CommonJS that asks for Node's modules while it runs, and a bundle in ESM has no
 * `require` for that. Nothing need be left out of the bundle.
 */
const requireForCommonJs = {
  js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
};

/** The function as it is deployed: its size, and what it takes from nothing until the first event is answered. */
export async function measureColdStart(folder: string): Promise<Findings> {
  await installPeers();
  const files = { here: join(folder, 'github-webhook.mjs'), peer: join(folder, 'probot.mjs') };
  const configFile = join(folder, 'relay.config.json');
  writeFileSync(configFile, JSON.stringify(config));
  const hereBytes = await bundle('../functions/github-webhook.ts', files.here, { alias: bundleAliases(configFile) });
  const peerBytes = await bundle('peers/probot.ts', files.peer, { banner: requireForCommonJs });
  const firstEvent = join(folder, 'first-event.mjs');
  // JavaScript, for a process that strips types has loaded the code for that.
  await bundle('first-event.ts', firstEvent);

  const stack = await startLocalStack({ tablePath: join(folder, 'cold-start') });
  try {
    stack.secrets.put(`${stack.secretPrefix}github`, { webhookSecret: WEBHOOK_SECRET });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const peerVariables = {
      NODE_ENV: 'production',
      APP_ID: '1',
      PRIVATE_KEY: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      WEBHOOK_SECRET,
    };
    const nextIssue = openedIssues(config);
    const here: FirstEvent[] = [];
    const peer: FirstEvent[] = [];
    for (let i = 0; i <= PROCESSES; i++) {
      const delivery = nextIssue();
      const ours = await inFreshProcess(firstEvent, files.here, delivery, stack.variables, 202);
      const theirs = await inFreshProcess(firstEvent, files.peer, delivery, peerVariables, 200);
      // The first ones found cold file caches and a stack that had not answered anybody yet.
      if (i === 0) continue;
      here.push(ours);
      peer.push(theirs);
    }
    return findings({ here, peer, hereBytes, peerBytes });
  } finally {
    await stack.close();
  }
}

async function inFreshProcess(
  script: string,
  file: string,
  { body, headers }: SignedDelivery,
  variables: Readonly<Record<string, string>>,
  expectedStatus: number,
): Promise<FirstEvent> {
  const event = functionUrlEvent({ method: 'POST', headers, url: '/' }, '/', Buffer.from(body));
  const args = [script, pathToFileURL(file).href, JSON.stringify(event)];
  // These variables and no others, as on Lambda: NODE_OPTIONS or a compile cache of whoever runs this would count in.
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: variables, timeout: GIVE_UP_MS });
  const told = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as FirstEvent;
  if (told.status !== expectedStatus) throw new Error(`${file} answered ${told.status} to its first event: ${stdout}`);
  return told;
}

interface Measured {
  here: FirstEvent[];
  peer: FirstEvent[];
  hereBytes: number;
  peerBytes: number;
}

function findings({ here, peer, hereBytes, peerBytes }: Measured): Findings {
  const total = ({ importMs, eventMs }: FirstEvent) => importMs + eventMs;
  const pairs = here.flatMap((ours, i) => {
    const theirs = peer[i];
    return theirs ? [total(ours) / total(theirs)] : [];
  });
  const ratio = median(pairs);
  const megabytes = (events: FirstEvent[]) => median(events.map(({ residentBytes }) => residentBytes / 1e6));
  const kilobytes = hereBytes / 1_000;
  const resident = megabytes(here);
  const parts = (events: FirstEvent[]) => {
    const importMs = amount(median(events.map((event) => event.importMs)), 'ms');
    return `${importMs} of import and ${amount(median(events.map((event) => event.eventMs)), 'ms')} of event`;
  };
  return {
    figures: [
      {
        name: 'bundled github-webhook',
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
        here: median(here.map(total)),
        peer: median(peer.map(total)),
        ratio,
        aim: `${AIM_RATIO * 100} % of the peer`,
        met: ratio <= AIM_RATIO,
      },
      {
        name: 'its resident memory then',
        unit: 'MB',
        here: resident,
        peer: megabytes(peer),
        ratio: resident / megabytes(peer),
        aim: `under ${AIM_MB} MB`,
        met: resident < AIM_MB,
      },
    ],
    notes: [
      `github-webhook: the peer is Probot ${peerVersion('probot')} with its Lambda adapter ${peerVersion('@probot/adapter-aws-lambda-serverless')},`,
      `  bundled the same way, whose app does nothing; ${PROCESSES} fresh processes each, in turns`,
      `  here ${parts(here)}, in which the event is stored and queued; peer ${parts(peer)}`,
    ],
  };
}
