import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
  LambdaServiceException,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import { CannotTell, type Check, check } from '../../lib/checks/check.ts';
import {
  openFunctions,
  reservedForOpen,
  UNRESERVED_AT_LEAST,
  webhookBurst,
  workersAtOnce,
} from '../../lib/config/capacity.ts';
import type { RelayConfig } from '../../lib/config/schema.ts';
import { schedules } from '../../lib/schedules.ts';
import type { CustomAutomations } from '../../lib/triggers/custom-automation.ts';
import { awsClient } from '../aws.ts';

/** Checks whether Lambda's concurrency quota is sufficient. */
export const concurrencyCheck = (config: RelayConfig, stage: string, custom: CustomAutomations): Check =>
  check('concurrency of the account', async () => {
    try {
      const lambda = new LambdaClient(awsClient());
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = limit } =
        AccountLimit ?? {};
      const ofOthers = limit === unreserved ? 0 : limit - unreserved - (await reservedBy(lambda, stage));
      return judgeConcurrency(config, stage, { limit, ofOthers, custom });
    } catch (error) {
      // People without rights on Lambda can still run the other checks.
      if (!(error instanceof LambdaServiceException)) throw error;
      throw new CannotTell(`Lambda does not return the account's quota: ${error.message}`);
    }
  });

/** The executions that the stage's functions reserve now. Only open functions have a reservation. */
async function reservedBy(lambda: LambdaClient, stage: string): Promise<number> {
  const reserved = ['github-webhook', 'slack-webhook', 'hooks-webhook', 'account-link'].map(async (slug) => {
    const FunctionName = `partner-relay-${stage}-${slug}`;
    try {
      const { ReservedConcurrentExecutions = 0 } = await lambda.send(
        new GetFunctionConcurrencyCommand({ FunctionName }),
      );
      return ReservedConcurrentExecutions;
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return 0;
      throw error;
    }
  });
  return (await Promise.all(reserved)).reduce((sum, one) => sum + one, 0);
}

interface AccountConcurrency {
  /** The concurrent executions of all functions that the account may have in this region. */
  limit: number;
  /** The executions that functions outside the stage reserve. */
  ofOthers?: number;
  custom?: CustomAutomations;
}

/** Compares the stage's needs with the quota. @throws {Error} if the quota is too small */
export function judgeConcurrency(
  config: RelayConfig,
  stage: string,
  { limit: ofAccount, ofOthers = 0, custom }: AccountConcurrency,
): string {
  const limit = ofAccount - ofOthers;
  const found = ofOthers === 0 ? `${limit}` : `${limit} of ${ofAccount}, because ${ofOthers} are reserved for others`;
  const settings = config.deployment.stages[stage];
  const accountConcurrency = settings?.accountConcurrency ?? limit;
  const open = openFunctions(config, custom).length;
  const ofEach = settings && reservedForOpen(config, settings, custom);
  const ofWorkers = workersAtOnce(config, settings);
  const ofOpen = open * webhookBurst(config);
  const reserved = open * (ofEach ?? 0);
  const needed = Math.max(ofWorkers + ofOpen + schedules.length, reserved > 0 ? reserved + UNRESERVED_AT_LEAST : 0);
  const parts = `${ofWorkers} for the worker, ${ofOpen} for the ${open} functions that are open to the internet, ${schedules.length} for the schedules`;
  const rest = reserved > 0 ? `; ${reserved} are reserved, and Lambda keeps ${UNRESERVED_AT_LEAST} more free` : '';
  const more = 'Request a higher quota in Service Quotas, "Concurrent executions" of AWS Lambda';
  const isDivided = settings?.accountConcurrency !== undefined && reserved === 0 && 2 * ofWorkers <= accountConcurrency;
  if (isDivided && accountConcurrency <= limit && limit < needed)
    return `${found}, and the worker leaves half of it to the other functions. A burst of events needs up to ${needed} (${parts}): beyond the quota, webhooks are refused. ${more}`;
  if (limit < needed || limit < accountConcurrency) {
    const untilThen =
      settings && limit < (settings.accountConcurrency ?? Number.POSITIVE_INFINITY)
        ? `. Until then, write accountConcurrency: ${limit} under deployment.stages.${stage}`
        : '';
    throw new Error(
      `${found}, but the relay needs up to ${Math.max(needed, accountConcurrency)} (${parts}${rest}): webhooks would be refused, or a deployment fails. ${more}, or lower deployment.maxConcurrency${untilThen}`,
    );
  }
  const couldReserve =
    settings && ofEach === undefined && reservedForOpen(config, { ...settings, accountConcurrency }, custom);
  const advice = couldReserve
    ? `. To reserve ${couldReserve} for each open function, write accountConcurrency: ${limit} under deployment.stages.${stage}, and deploy`
    : '';
  return `${found}, and the relay needs up to ${needed} (${parts}${rest})${advice}`;
}
