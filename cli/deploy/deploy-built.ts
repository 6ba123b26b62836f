import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RelayConfig } from '../../lib/config/schema.ts';
import none, { type CustomAutomation } from '../../lib/triggers/custom-automation.ts';
import { ask } from '../ask.ts';
import { checkBeforeDeploy } from '../doctor/before-deploy.ts';
import { printFindings } from '../doctor/finding.ts';
import { runDeployed } from '../run-deployed.ts';
import { alarmsOf, ringing, statesOf } from './alarms.ts';
import { runNode } from './run-node.ts';

/** What `build` writes about a stage, beside its stack. */
export interface Deployment {
  stage: string;
  /** The version of Partner Relay that built it. */
  version: string;
  /** The checked configuration, with its defaults. */
  config: RelayConfig;
  own: readonly CustomAutomation[];
}

export interface DeployOptions {
  isAsking: boolean;
  isImporting: boolean;
  pause: (ms: number) => Promise<unknown>;
}

/** An alarm about new troubles returns to OK after a minute, and the heartbeat's goes off after five. */
const WATCHED_MINUTES = 6;
const LOOK_EVERY_MS = 30_000;

/**
 * Checks the account, deploys what is in the folder, and watches the stage. It runs only its own code and the CDK's
 * command line in the folder.
 *
 * @throws {Error} that says what is wrong with the stage
 */
export async function deployBuilt(folder: string, { isAsking, isImporting, pause }: DeployOptions): Promise<void> {
  const { stage, version, config, own }: Deployment = JSON.parse(readFileSync(join(folder, 'deployment.json'), 'utf8'));
  const findings = await checkBeforeDeploy(config, stage, { custom: { ...none, list: own }, version, isImporting });
  printFindings(findings);
  if (findings.some(({ verdict }) => verdict === 'bad'))
    throw new Error('nothing was deployed, because of what is marked with ✗');
  const cdk = async (command: string, ...options: string[]) => {
    const code = await runNode(join(folder, 'aws-cdk/bin/cdk'), [command, '--app', folder, ...options]);
    if (code !== 0) throw new Error(`cdk ${command} ended with ${code}`);
  };
  await cdk('diff');
  if (isAsking && !/^y(es)?$/i.test(await ask(`Deploy this to ${stage}? y or n`, 'n')))
    return console.log('Nothing was deployed.');

  const name = `partner-relay-${stage}`;
  const alarms = alarmsOf(JSON.parse(readFileSync(join(folder, `${name}.template.json`), 'utf8')));
  const before = await statesOf(alarms);
  // An existing stack has alarms.
  const isFirst = before.size === 0;
  await cdk(
    'deploy',
    ...['--require-approval', 'never'],
    ...(isImporting ? ['--import-existing-resources'] : []),
  ).catch((error: unknown) => {
    if (isFirst) console.error(afterFirst(name));
    throw error;
  });
  if (isFirst) {
    const enter = `npx partner-relay --stage ${stage}`;
    return console.log(
      `This was the first deployment: enter the secrets with ${enter} secrets set, and run ${enter} doctor.`,
    );
  }
  console.log(`credential-check: ${JSON.stringify(await runDeployed(stage, 'credential-check', {}))}`);
  await watch(alarms, new Set(ringing(before)), pause);
}

/** Watches the alarms after a deployment. @throws {Error} if one goes off that was quiet before */
async function watch(alarms: readonly string[], known: ReadonlySet<string>, pause: DeployOptions['pause']) {
  const found = new Set<string>();
  let unread: unknown;
  console.log(`Watching ${alarms.length} alarms for ${WATCHED_MINUTES} minutes.`);
  for (let ms = LOOK_EVERY_MS; ms <= WATCHED_MINUTES * 60_000; ms += LOOK_EVERY_MS) {
    await pause(LOOK_EVERY_MS);
    try {
      for (const alarm of ringing(await statesOf(alarms))) if (!known.has(alarm)) found.add(alarm);
      unread = undefined;
    } catch (error) {
      // If one reading fails, the next one counts.
      unread = error;
    }
    if (ms % 60_000 === 0)
      console.log(`${ms / 60_000} of ${WATCHED_MINUTES} minutes: ${[...found].join(', ') || 'no new alarm'}`);
  }
  if (unread !== undefined) throw unread;
  if (found.size === 0) return;
  throw new Error(
    `these alarms are new: ${[...found].join(', ')}. docs/recovery.md#roll-back-to-an-older-version says how to go back`,
  );
}

const afterFirst = (name: string) =>
  `There was no stack before. If the stage is protected, delete what this deployment left before the next one:
  aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${name}
  aws cloudformation delete-stack --stack-name ${name}
docs/deploy.md#a-first-deployment-fails explains it.`;
