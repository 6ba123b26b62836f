import { randomBytes } from 'node:crypto';
import { createPolledChanges } from '../console/polled-changes.ts';
import { readCustomAutomations } from '../lib/automations/custom/folder.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import { messageOf } from '../lib/text.ts';
import { printable } from '../local/terminal.ts';
import { trustCaFile } from '../local/trust.ts';
import { callerArn } from './caller.ts';
import type { Define } from './cli.ts';
import { readPort } from './numbers.ts';
import { openBrowser } from './open-browser.ts';
import { runDeployed } from './run-deployed.ts';
import { type OpenTarget, relayHere } from './target.ts';

interface ConsoleCommandOptions {
  operate?: boolean;
  port: number;
  open?: boolean;
}

/** A port that neither `start` nor `mcp login` uses. */
const DEFAULT_PORT = 8789;

/** `console`: the console of a stage on this machine, or the address of the console of `partner-relay start`. */
export const define: Define = (command, { open, stage }) =>
  command
    .description('show a stage in the browser, with your AWS credentials, which stay in this process')
    .option('--operate', 'allow changes: of jobs, links, connections and schedules')
    .option('--port <port>', 'listen on this port of 127.0.0.1', readPort, DEFAULT_PORT)
    .option('--open', 'open the browser')
    .addHelpText(
      'after',
      `
Without --stage, this prints the address of the console that npx partner-relay start serves.

  npx partner-relay console --open
  npx partner-relay --stage prod console --operate`,
    )
    .action(async (options: ConsoleCommandOptions) => {
      const name = stage();
      const url = name === undefined ? (await relayHere()).console : await serveStage(name, options, open);
      console.log(url);
      if (name !== undefined) console.error(`\n${inWords(name, options)}`);
      if (options.open) openBrowser(url, noBrowser);
    });

/** Serves the console until the process gets a stop signal. @returns its address */
async function serveStage(name: string, { operate = false, port }: ConsoleCommandOptions, open: OpenTarget) {
  // Only this command needs the console's server and the automations.
  const { startConsole } = await import('../console/server.ts');
  const { stores, stopped } = await open();
  const config = await loadConfig();
  trustCaFile(config);
  const failed = (error: unknown) => console.error(printable(`relay: ${messageOf(error)}`));
  const { custom } = await readCustomAutomations(config);
  const token = randomBytes(32).toString('base64url');
  const { url } = await startConsole(port, {
    name,
    stores,
    stopped,
    operate,
    token,
    failed,
    runtime: { config, custom, environment: { STAGE: name }, clock: Date.now, random: Math.random, randomBytes, fetch },
    operator: await callerArn(),
    changes: createPolledChanges(stores.jobs, failed),
    runSchedule: (slug, event) => runDeployed(name, slug, event),
  });
  return `${url}/#token=${token}`;
}

function inWords(name: string, { operate }: ConsoleCommandOptions): string {
  const may = operate ? 'It can make changes, in your name.' : 'It is read-only; --operate allows changes.';
  return `The console of ${name} is open until you stop this command. ${may}`;
}

const noBrowser = () => console.error('relay: no browser could be opened; open the address yourself');
