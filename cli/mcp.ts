import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { AccountNeeded, OutcomeUnknown } from '../lib/as-person/grants/errors.ts';
import type { Grant, Holder } from '../lib/as-person/grants/grant.ts';
import { type McpEndpoint, openMcpEndpoint } from '../lib/as-person/grants/mcp-endpoint.ts';
import { OAuthRefusal } from '../lib/as-person/protocol/oauth/oauth-errors.ts';
import type { ToolResult } from '../lib/as-person/protocol/tool.ts';
import { loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { connectionSettings } from '../lib/config/settings.ts';
import { localTime } from '../lib/dates.ts';
import { isRecord } from '../lib/outside.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { parsedJson } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';
import { trustCaFile } from '../local/trust.ts';
import type { Define } from './cli.ts';
import { listenForCallback } from './loopback.ts';
import { diagnoseMcp, diagnosisLines } from './mcp-doctor.ts';
import { readPort } from './numbers.ts';
import { printJson, printText } from './print.ts';

interface OpenedMcp {
  endpoint: McpEndpoint;
  holder: Holder;
  settings: RelayConfig['connections'][string];
}

interface McpOptions {
  connection: string;
  as: string;
  json?: boolean;
}

/** The port of the redirect URI. */
const LOOPBACK_PORT = 8790;
const SIGN_IN_MS = 10 * 60_000;

/** `mcp`: the service's MCP endpoint, as an operator. */
export const define: Define = (mcp, { open, stage }) => {
  const command = (name: string, description: string) =>
    mcp
      .command(name)
      .description(description)
      .option('--connection <name>', 'the instance', 'main')
      .option('--as <name>', 'the name under which the link is stored', userInfo().username);

  /** Does not use the budget of a stage: the limits count by address, and this machine's address is not the stage's. */
  const openMcp = async ({ connection, as }: McpOptions): Promise<OpenedMcp> => {
    const { stores } = await open();
    const config = await loadConfig();
    const settings = connectionSettings(config, connection);
    trustCaFile(config);
    const endpoint = await openMcpEndpoint({
      ...stores,
      connection,
      limits: settings.mcp.limits,
      budget: stage() === undefined ? createBudget({ table: stores.table }) : undefined,
      lane: 'background',
      clock: Date.now,
      sleep: setTimeout,
      random: Math.random,
      randomBytes,
      fetch: globalThis.fetch,
      async waitUntil(at, why) {
        console.error(`waiting until ${localTime(at)} for ${why}; Ctrl+C ends it`);
        await setTimeout(Math.max(0, at - Date.now()));
      },
    });
    return { endpoint, holder: { in: 'operator', id: as }, settings };
  };

  command('login', 'sign in at the service in your browser, and store the link')
    .option('--scope <scopes...>', 'ask for these scopes only, such as mcp:use mcp:timelogs.write')
    .option('--port <number>', 'the port on 127.0.0.1 that the browser comes back to', readPort, LOOPBACK_PORT)
    .action(async (options: McpOptions & { scope?: string[]; port: number }) => {
      const { endpoint, holder } = await openMcp(options);
      printLinked(await login(endpoint, holder, options, (line) => console.error(line)));
    });

  command('doctor', 'list the tools with their schemas, and check those that relay.config.ts maps; it calls none')
    .option('--json', 'as JSON')
    .action(async (options: McpOptions) => {
      const { endpoint, holder, settings } = await openMcp(options);
      const diagnosis = await hinted(diagnoseMcp(endpoint, holder, settings.mcp.commands), options);
      if (options.json) printJson(diagnosis);
      else for (const line of diagnosisLines(diagnosis)) console.log(line);
      if (diagnosis.faults.length > 0) process.exitCode = 1;
    });

  command('call <tool> [arguments]', 'call a tool; the call is sent once')
    .option('--json', 'the whole result as JSON')
    .addHelpText(
      'after',
      `
The arguments are a JSON object, {} by default; - reads it from standard input.

  npx partner-relay mcp call list_projects
  npx partner-relay mcp call log_time '{"task":"<id>","hours":1.5}'`,
    )
    .action(async (tool: string, json: string | undefined, options: McpOptions) => {
      const args = readArguments(json === '-' ? await text(process.stdin) : (json ?? '{}'));
      const { endpoint, holder } = await openMcp(options);
      const result = await hinted(endpoint.tools.call(holder, 'sent once', tool, args), options);
      if (options.json) printJson(result);
      else printResult(result);
      if (result.isError) process.exitCode = 1;
    });
};

/** Links an account through the browser. @param tell gets the address to open */
export async function login(
  { link, grants }: Pick<McpEndpoint, 'link' | 'grants'>,
  holder: Holder,
  { connection, scope, port }: { connection: string; scope?: readonly string[]; port: number },
  tell: (line: string) => void,
): Promise<Grant> {
  const loopback = await listenForCallback(port, `/callback/${connection}`);
  try {
    const { url, pending } = await link.begin(loopback.redirectUri, { only: scope });
    tell(`Open this address in your browser, sign in and allow access:\n\n  ${oneLine(url)}\n`);
    const callback = await loopback.callback(pending.authorization.state, SIGN_IN_MS);
    return await grants.link(holder, await link.finish(pending, callback));
  } catch (error) {
    if (!(error instanceof OAuthRefusal) || error.error !== 'access_denied') throw error;
    const why = 'an administrator has to enable MCP for the workspace, and you have to allow the access';
    throw new Error(`${error.message}; ${why}`, { cause: error });
  } finally {
    await loopback.close();
  }
}

/** Adds what to do if an account is not linked, or if the outcome of a call is unknown. */
async function hinted<T>(result: Promise<T>, { connection, as }: McpOptions): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof AccountNeeded) {
      const scopes = error.scopes.length > 0 ? ' (the workspace must allow the scope)' : '';
      const again = `npx partner-relay mcp login --connection ${connection} --as ${as}`;
      throw new Error(`${error.message}. Link your account${scopes}: ${again}`, { cause: error });
    }
    if (error instanceof OutcomeUnknown) {
      const hint = 'it may have been carried out; look in the service before you call it again';
      throw new Error(`${error.message}; ${hint}`, { cause: error });
    }
    throw error;
  }
}

function printLinked({ scopes, connection, unusedUntil }: Grant): void {
  console.log(`Your account is linked on ${connection}.`);
  console.log(`  scopes       ${oneLine(scopes.join(' ')) || 'unknown'}`);
  console.log(`  expires      ${new Date(unusedUntil).toISOString().slice(0, 10)}, unless it is used before`);
}

function printResult(result: ToolResult): void {
  for (const part of result.texts) printText(part);
  if (result.texts.length === 0 && result.structured) printJson(result.structured);
  if (result.otherKinds.length > 0) console.log(`(and ${result.otherKinds.map(oneLine).join(', ')}; see --json)`);
}

function readArguments(json: string): object {
  const value = parsedJson(json);
  if (isRecord(value)) return value;
  throw new Error(`the arguments are not a JSON object: ${oneLine(json.slice(0, 80))}`);
}
