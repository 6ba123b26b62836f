import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { parsedJson } from '../lib/text.ts';

/** An event that made no job. */
export interface IgnoredEvent {
  /** ISO 8601. */
  timestamp: string;
  /** `issues`, or `hooks/<automation>` for a request to a webhook of the team. */
  event: string;
  deliveryId: string;
  reason: string;
}

const line = z.object({ timestamp: z.string(), reason: z.string() });
const ignoredLine = z.union([
  line.extend({ message: z.literal('delivery ignored'), event: z.string(), deliveryId: z.string() }),
  line
    .extend({ message: z.literal('request ignored'), hook: z.string() })
    .transform(({ hook, ...rest }) => ({ ...rest, event: `hooks/${hook}`, deliveryId: '' })),
]);

/**
 * Reads the newest ignored events, newest first, from this machine's log. In the table, each ignored event would cost a
 * write.
 *
 * @param logFile undefined for a stage
 * @throws {Error} for a stage, with the command that asks its log
 */
export function readIgnored(logFile: string | undefined, stage: string | undefined, limit: number): IgnoredEvent[] {
  if (logFile === undefined) {
    throw new Error(`a stage keeps ignored events in the log of its webhook. To list those of the last day, run:

  aws logs filter-log-events --log-group-name /aws/lambda/partner-relay-${stage ?? '<stage>'}-github-webhook \\
    --filter-pattern '{ $.message = "delivery ignored" }' \\
    --start-time $(( ($(date +%s) - 86400) * 1000 )) --query 'events[].message' --output text`);
  }
  if (!existsSync(logFile)) return [];
  const lines = readFileSync(logFile, 'utf8').split('\n');
  // A kill may have cut the last line.
  const read = lines.flatMap((line) => (/(delivery|request) ignored/.test(line) ? (parsedJson(line) ?? []) : []));
  const ignored = read.flatMap((line) => ignoredLine.safeParse(line).data ?? []);
  return ignored.slice(-limit).reverse();
}
