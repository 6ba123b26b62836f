import { text } from 'node:stream/consumers';
import { loadConfig } from '../lib/config/config-file.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { faultLine, readInput } from '../lib/faults/fault.ts';
import { type Operation, rawOperation, withOverride } from '../lib/service/partner/operation.ts';
import { operations } from '../lib/service/partner/operations/operations.ts';
import { messageOf } from '../lib/text.ts';
import type { Define } from './cli.ts';
import { connectionOf } from './connection-of.ts';
import { openPartner } from './partner.ts';
import { printJson } from './print.ts';

interface CallOptions {
  raw?: boolean;
  connection?: string;
}

/** `call`: calls one operation of the partner API. */
export const define: Define = (command, { open }) =>
  command
    .arguments('<operation> [payload]')
    .option('--raw', 'send path and payload unchanged, without the schema and override of a known operation')
    .option('--connection <name>', 'the connection whose key and overrides are used; by default main, or the only one')
    .addHelpText(
      'after',
      `
The payload is a JSON object, {} by default. Use - to read it from standard input. If PARTNER_BASE_URL, PARTNER_API_KEY
and PARTNER_SECRET_KEY are set, the command calls that instance. Otherwise it calls the instance of the relay that runs
in this folder. If no relay runs, it calls the instance that you entered with npx partner-relay secrets set.

A call uses the relay's budget as background work, so people's commands go first. With PARTNER_… variables and no relay
that uses the same key, there is no budget to share, and the call is sent at once.

  npx partner-relay call projects/list
  npx partner-relay call projects/search '{"q":"shop"}'

Known operations: ${[...operations.keys()].join(', ')}`,
    )
    .action(async (name: string, payload: string | undefined, { raw = false, ...options }: CallOptions) => {
      const config = await loadConfig();
      const connection = connectionOf(config, options.connection);
      const operation = operationToCall(name, raw, connection, config);
      const json = readPayload(payload === '-' ? await text(process.stdin) : (payload ?? '{}'));
      checkPayload(operation, json);
      const call = await openPartner(connection, config, open, (line) => console.error(line));
      printJson(await call(operation, json));
    });

/**
 * Returns the operation with the connection's override, or the plain path for `--raw`, with or without a leading slash.
 */
export function operationToCall(name: string, raw: boolean, connection: string, config: RelayConfig): Operation {
  const declared = raw ? undefined : operations.get(name.replace(/^\/+/, ''));
  if (!declared) return rawOperation(name);
  return withOverride(declared, config.connections[connection]?.operations[declared.name]);
}

/** Checks the payload before the call takes a slot of the budget. @throws {Error} with every fault */
function checkPayload(operation: Operation, payload: unknown): void {
  const read = readInput(operation.payload, payload);
  if (!read.ok)
    throw new Error(`the payload of ${operation.name} has faults:\n  ${read.faults.map(faultLine).join('\n  ')}`);
}

function readPayload(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`the payload is not JSON (${messageOf(error)}): ${json.slice(0, 80)}`);
  }
}
