import { GetAccountSettingsCommand, LambdaClient, LambdaServiceException } from '@aws-sdk/client-lambda';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { schedules } from '../../lib/schedules.ts';

/** The result of one check. */
export interface StageFinding {
  what: string;
  verdict: 'good' | 'bad' | 'unknown';
  detail: string;
}

/** Concurrent executions of each webhook in a burst of events, if none are reserved for it. */
const WEBHOOK_BURST = 10;
/** Lambda keeps at least this many executions for functions without a reservation. */
const UNRESERVED_AT_LEAST = 100;

/** What `doctor --stage` checks in the account: whether the concurrency quota of Lambda is sufficient. */
export async function examineStage(config: RelayConfig, lambda = new LambdaClient({})): Promise<StageFinding[]> {
  const what = 'concurrency of the account';
  try {
    const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
    return [{ what, ...judgeConcurrency(config, AccountLimit?.ConcurrentExecutions ?? 0) }];
  } catch (error) {
    // Someone who only has rights on secrets can still run the other checks.
    if (!(error instanceof LambdaServiceException)) throw error;
    return [{ what, verdict: 'unknown', detail: `Lambda does not return the account's quota: ${error.message}` }];
  }
}

/** @param limit concurrent executions of all functions together that the account may have in this region */
export function judgeConcurrency(config: RelayConfig, limit: number): Omit<StageFinding, 'what'> {
  const { maxConcurrency, reservedConcurrency } = config.deployment;
  const webhooks = config.slack ? 2 : 1;
  const ofWorkers = reservedConcurrency.worker ?? maxConcurrency.interactive + maxConcurrency.background;
  const ofWebhooks = webhooks * (reservedConcurrency.webhook ?? WEBHOOK_BURST);
  const reserved = (reservedConcurrency.worker ?? 0) + webhooks * (reservedConcurrency.webhook ?? 0);
  const needed = Math.max(ofWorkers + ofWebhooks + schedules.length, reserved > 0 ? reserved + UNRESERVED_AT_LEAST : 0);
  const parts = `${ofWorkers} for the worker, ${ofWebhooks} for the webhooks, ${schedules.length} for the schedules`;
  const rest = reserved > 0 ? `; ${reserved} are reserved, and Lambda keeps ${UNRESERVED_AT_LEAST} more free` : '';
  if (limit >= needed) {
    return { verdict: 'good', detail: `${limit}, and the relay needs up to ${needed} (${parts}${rest})` };
  }
  return {
    verdict: 'bad',
    detail: `${limit}, but the relay needs up to ${needed} (${parts}${rest}): webhooks would be refused. Request a higher quota in Service Quotas, "Concurrent executions" of AWS Lambda, or lower deployment.maxConcurrency`,
  };
}
