import none, { type CustomAutomations, customOf } from '../triggers/custom-automation.ts';
import type { StageSettings } from './deployment.ts';
import type { QueueName } from './queues.ts';
import type { RelayConfig } from './schema.ts';
import { linksAccounts } from './settings.ts';

/** Lambda keeps at least this many executions for functions without a reservation. */
export const UNRESERVED_AT_LEAST = 100;

/**
 * How many requests a second a function URL accepts for each reserved execution.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html
 */
export const REQUESTS_PER_EXECUTION = 10;

/** The minimum number of executions of a webhook, for a burst of events. */
const WEBHOOK_BURST = 10;

/** The most write units that an event costs, for an issue of 30,000 bytes: docs/deploy.md. */
const UNITS = { toTake: 13, toCarryOut: 111 };

/** The functions that the internet can reach: the webhooks, and the pages that link accounts. */
export function openFunctions(config: RelayConfig, custom: CustomAutomations = none): string[] {
  return [...webhooks(config, custom), ...(linksAccounts(config) ? ['account-link'] : [])];
}

/** One function serves all webhooks of a team. */
const webhooks = ({ slack }: RelayConfig, custom: CustomAutomations) => [
  'github-webhook',
  ...(slack ? ['slack-webhook'] : []),
  ...(customOf(custom, 'webhook').length > 0 ? ['hooks-webhook'] : []),
];

/** The minimum that an event source accepts. https://docs.aws.amazon.com/lambda/latest/api/API_ScalingConfig.html */
export const LEAST_WORKERS = 2;

/** How many background workers a busy connection needs to use its limit: docs/scale.md#teams-side-by-side. */
const WORKERS_OF_CONNECTION = 5;
/** More connections than this are rarely busy at the same time. */
const MOST_BUSY_CONNECTIONS = 20;

/** How many background workers the repositories' connections need so that they do not block each other. */
function backgroundWorkers({ github }: RelayConfig): number {
  const connections = new Set(github.repositories.map(({ connection }) => connection)).size;
  const busy = Math.min(Math.max(connections, 1), MOST_BUSY_CONNECTIONS);
  // New jobs of all connections need a worker for a moment, beside the calls of the busy connections.
  return WORKERS_OF_CONNECTION * (connections > 1 ? busy + 1 : busy);
}

/**
 * Returns the worker's executions for each queue, as configured or as the connections need. In a small account, each
 * queue gets at most a quarter, so that half remains for the webhooks and schedules.
 */
export function workersOf(config: RelayConfig, settings?: StageSettings): Record<QueueName, number> {
  const { interactive, background = backgroundWorkers(config) } = config.deployment.maxConcurrency;
  const most = Math.max(LEAST_WORKERS, Math.floor((settings?.accountConcurrency ?? Number.POSITIVE_INFINITY) / 4));
  return { interactive: Math.min(interactive, most), background: Math.min(background, most) };
}

/**
 * Returns true if new jobs of a connection leave workers to other connections. With too few workers, they must not:
 * calls of the limit would remain unused, because the queue does not distinguish connections.
 */
export function sharesWorkers(config: RelayConfig, settings?: StageSettings): boolean {
  return Object.keys(config.connections).length > 1 && tooFewWorkers(config, settings) === undefined;
}

/**
 * Warns that one connection's backlog delays the events of others, and what to do.
 * @returns undefined if there are enough workers
 */
export function tooFewWorkers(config: RelayConfig, settings?: StageSettings): string | undefined {
  const needed = backgroundWorkers(config);
  const { background } = workersOf(config, settings);
  if (background >= needed) return undefined;
  const remedy =
    (config.deployment.maxConcurrency.background ?? needed) < needed
      ? `Remove deployment.maxConcurrency.background, or set it to ${needed}`
      : 'Request a higher quota for "Concurrent executions" of AWS Lambda, and raise accountConcurrency';
  return `${background}, but the connections of the repositories need ${needed}: events of one connection wait while another has a backlog. ${remedy}`;
}

/** The worker's executions for all queues together. */
export function workersAtOnce(config: RelayConfig, settings?: StageSettings): number {
  const { interactive, background } = workersOf(config, settings);
  return interactive + background;
}

/** The executions that each open function needs. A webhook accepts events faster than the worker processes them. */
export const webhookBurst = (config: RelayConfig): number => Math.max(WEBHOOK_BURST, workersAtOnce(config));

/** The executions to reserve for each open function, if the account has enough. @returns undefined for none */
export function reservedForOpen(
  config: RelayConfig,
  { accountConcurrency }: StageSettings,
  custom: CustomAutomations = none,
): number | undefined {
  if (accountConcurrency === undefined) return undefined;
  const burst = webhookBurst(config);
  const left = accountConcurrency - openFunctions(config, custom).length * burst;
  return left >= UNRESERVED_AT_LEAST ? burst : undefined;
}

/**
 * The maximum request units a second of the table and of each index: the fastest possible events and calls, all with
 * long texts, and the same again for sweeps and operators. DynamoDB itself starts a table with three times as many
 * reads as writes. docs/deploy.md#floods explains the figures.
 */
export function tableLimits(
  config: RelayConfig,
  { httpApi }: StageSettings,
  custom: CustomAutomations = none,
): { read: number; write: number } {
  const perMinute = Object.values(config.connections).reduce((sum, { limits }) => sum + limits.perMinute, 0);
  const events =
    httpApi?.requestsPerSecond ?? webhooks(config, custom).length * webhookBurst(config) * REQUESTS_PER_EXECUTION;
  const write = Math.ceil(2 * (events * UNITS.toTake + (perMinute / 60) * UNITS.toCarryOut));
  return { read: 3 * write, write };
}
