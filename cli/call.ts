import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Result } from '../lib/partner/answer.ts';
import { createPartnerClient, type PartnerClient } from '../lib/partner/client.ts';
import { PartnerRefusal } from '../lib/partner/errors.ts';
import { type Operation, rawOperation, withOverride } from '../lib/partner/operation.ts';
import { operations } from '../lib/partner/operations.ts';
import { printJson } from './print.ts';
import { type OpenTarget, partnerOf } from './target.ts';

/** `call`: one operation of the partner API. */
export function addCallCommand(program: Command, open: OpenTarget): void {
  program
    .command('call <operation> [payload]')
    .description('call an operation of the partner API and print the answer as JSON')
    .option('--raw', 'take the path and the payload as they are, without the schema of a known operation')
    .option('--connection <name>', 'whose key and overrides are used', 'main')
    .addHelpText(
      'after',
      `
The payload is a JSON object, {} by default; - reads it from standard input. The instance is that of
PARTNER_BASE_URL, PARTNER_API_KEY and PARTNER_SECRET_KEY, or else that of the relay that runs in this folder.

  npm run -s relay -- call projects/list
  npm run -s relay -- call projects/search '{"q":"shop"}'

Known operations: ${[...operations.keys()].join(', ')}`,
    )
    .action(async (name: string, payload: string | undefined, options: { raw?: boolean; connection: string }) => {
      const { default: config } = await import('../relay.config.ts');
      const declared = options.raw ? undefined : operations.get(name.replace(/^\/+/, ''));
      const operation = withOverride(
        declared ?? rawOperation(name),
        config.connections[options.connection]?.operations[name],
      );
      const json = readPayload(payload === '-' ? await text(process.stdin) : (payload ?? '{}'));
      const client = createPartnerClient(await partnerOf(options.connection, open));
      printJson(await callWithTheirClock(client, operation, json));
    });
}

/** Signs anew once where the clocks differ: a refusal for its timestamp carried nothing out. */
async function callWithTheirClock(
  client: PartnerClient,
  operation: Operation,
  payload: unknown,
): Promise<Result<unknown>> {
  try {
    return await client.call(operation, payload);
  } catch (error) {
    if (error instanceof PartnerRefusal && error.clockOffsetSeconds !== null) return client.call(operation, payload);
    throw error;
  }
}

function readPayload(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(
      `the payload is not JSON (${error instanceof Error ? error.message : error}): ${json.slice(0, 80)}`,
    );
  }
}
