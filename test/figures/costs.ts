import type { Template } from 'aws-cdk-lib/assertions';
import { REQUESTS_PER_EXECUTION, reservedForOpen, tableLimits } from '../../lib/config/capacity.ts';
import { defineConfig } from '../../lib/config/schema.ts';
import { METRIC_NAMES } from '../../lib/state/metrics/metrics.ts';
import { synthesize } from '../infra/variants.ts';
import { amount, dollars, type Row } from './table.ts';
import { type IssueUnits, unitsOfIdleConnection, unitsOfIssue } from './write-units.ts';

/** List prices of us-east-1 in US dollars, with their units. docs/deploy.md#what-it-costs names the sources. */
const PRICES = {
  millionInvocations: { dollars: 0.2, of: 'a million invocations of Lambda' },
  gigabyteSecond: { dollars: 0.0000133334, of: 'a GB-second of Lambda on ARM' },
  millionWriteUnits: { dollars: 0.625, of: 'a million write units of DynamoDB on demand' },
  millionReadUnits: { dollars: 0.125, of: 'a million read units of DynamoDB on demand' },
  millionQueueRequests: { dollars: 0.5, of: 'a million requests to SQS FIFO' },
  millionScheduled: { dollars: 1, of: 'a million invocations by Scheduler' },
  gigabyteOfLogs: { dollars: 0.5, of: 'a GB of logs in CloudWatch' },
  metric: { dollars: 0.3, of: 'a metric and month' },
  alarm: { dollars: 0.1, of: 'an alarm and month' },
  dashboard: { dollars: 3, of: 'a dashboard and month' },
  secret: { dollars: 0.4, of: 'a secret and month' },
  millionApiRequests: { dollars: 1, of: 'a million requests to an HTTP API' },
  natGatewayHour: { dollars: 0.045, of: 'an hour of a NAT gateway, and a GB through it' },
  addressHour: { dollars: 0.005, of: 'an hour of a public address' },
  endpointHour: { dollars: 0.01, of: 'an hour of an interface endpoint in one zone' },
} as const;
const price = (of: keyof typeof PRICES) => PRICES[of].dollars;

const MONTH_HOURS = 730;
const MONTH_MINUTES = MONTH_HOURS * 60;
const DAY_SECONDS = 86_400;
/** Quotas of a usual account: concurrent executions of Lambda, and a table's write units a second. */
const QUOTA = { executions: 1_000, writeUnits: 40_000 };
/** Sizes of the texts that people write, from one line to the longest. */
export const BODY_BYTES = [200, 2_000, 10_000, 30_000] as const;

/** What an event uses besides the table: estimates from logs of the functions. */
const EVENTS = {
  'becomes a job': { invocations: 2, gigabyteSeconds: 0.03 + 0.4 * 0.5, queueRequests: 3, kilobytesOfLogs: 4 },
  'is handled by no automation, or refused': {
    invocations: 1,
    gigabyteSeconds: 0.015,
    queueRequests: 0,
    kilobytesOfLogs: 1,
  },
};
type EventKind = keyof typeof EVENTS;

/** The cost of a million events, in dollars. */
function millionEvents(kind: EventKind): number {
  const { invocations, gigabyteSeconds, queueRequests, kilobytesOfLogs } = EVENTS[kind];
  const lambda = invocations * price('millionInvocations') + gigabyteSeconds * 1e6 * price('gigabyteSecond');
  return lambda + queueRequests * price('millionQueueRequests') + kilobytesOfLogs * price('gigabyteOfLogs');
}

const millionIssues = ({ write, read }: IssueUnits) =>
  write * price('millionWriteUnits') + read * price('millionReadUnits');

/**
 * The cost of an idle stage: Lambda's five pollers of each of two queues poll every 20 s, and the schedules of
 * lib/schedules.ts run for 0.2 s at 0.5 GB.
 */
function idleCosts(): number {
  const polls = (2 * 5 * MONTH_MINUTES * 60) / 20;
  const runs = MONTH_MINUTES * (1 + 2 / 15 + 1 / 60);
  const run = (price('millionScheduled') + price('millionInvocations')) / 1e6 + 0.2 * 0.5 * price('gigabyteSecond');
  return (polls * price('millionQueueRequests')) / 1e6 + runs * run;
}

/** The routes of two webhooks, and of the pages that link accounts. */
const ROUTES = 5;
/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html */
const METRICS_OF_ROUTE = 6;

function partsOfMonth(template: Template): Record<string, number> {
  const count = (type: string) => Object.keys(template.findResources(type)).length;
  const [alarms, secrets] = [count('AWS::CloudWatch::Alarm'), count('AWS::SecretsManager::Secret')];
  return {
    [`${METRIC_NAMES.length} metrics`]: METRIC_NAMES.length * price('metric'),
    'a dashboard': price('dashboard'),
    [`${alarms} alarms`]: alarms * price('alarm'),
    [`${secrets} secrets`]: secrets * price('secret'),
    'the schedules, and the polling of two queues': idleCosts(),
  };
}

/** The tables of docs/deploy.md, by their places. */
export async function costTables(): Promise<Record<string, readonly Row[]>> {
  const wanted = {
    connections: { main: {} },
    slack: { connection: 'main' },
    deployment: { stages: { dev: {}, 'http-api': { httpApi: {} } } },
  };
  const units = new Map<number, IssueUnits>();
  for (const bytes of BODY_BYTES) units.set(bytes, await unitsOfIssue(bytes));
  const parts = partsOfMonth(synthesize('dev', wanted).template());
  const idleUnits = await unitsOfIdleConnection();
  const idle = price('secret') + (idleUnits * MONTH_MINUTES * price('millionReadUnits')) / 1e6;
  const fixed = Object.values(parts).reduce((total, one) => total + one, 0);
  const ofIssue = (bytes: number) => {
    const counted = units.get(bytes);
    if (!counted) throw new Error(`there are no figures for ${bytes} bytes`);
    return millionEvents('becomes a job') + millionIssues(counted);
  };
  const month = (jobs: number, bytes: number, others = 0) =>
    fixed + (jobs * ofIssue(bytes) + others * millionEvents('is handled by no automation, or refused')) / 1e6;

  return {
    prices: [['price', 'of'], ...Object.values(PRICES).map((one): Row => [dollars(one.dollars, 10), one.of])],
    'units of an issue': [
      [
        'text of the issue',
        'write units',
        'for the link, the job with its journal, the index',
        'read units',
        'DynamoDB, a million issues',
      ],
      ...[...units].map(([bytes, counted]): Row => {
        const kinds = ['link', 'job', 'job (index)'].map((kind) => counted.writes.get(kind) ?? 0);
        return [
          `${amount(bytes)} bytes`,
          amount(counted.write),
          kinds.join(', '),
          amount(counted.read),
          dollars(millionIssues(counted)),
        ];
      }),
    ],
    'an event': [
      ['an event that', 'invocations', 'GB-seconds', 'requests to SQS', 'logs', 'a million'],
      ...Object.entries(EVENTS).map(([kind, used]): Row => {
        const { invocations, gigabyteSeconds, queueRequests, kilobytesOfLogs } = used;
        return [
          kind,
          amount(invocations),
          String(gigabyteSeconds),
          amount(queueRequests),
          `${kilobytesOfLogs} KB`,
          dollars(millionEvents(kind as EventKind)),
        ];
      }),
    ],
    'a month': [
      ['a stage with one connection and Slack', 'a month'],
      ...Object.entries(parts).map(([what, cost]): Row => [what, dollars(cost)]),
      ['without events', dollars(fixed)],
      ['5,000 events a day, issues of 2,000 bytes', dollars(month(150_000, 2_000))],
      ['5,000 events a day, issues of 30,000 bytes', dollars(month(150_000, 30_000))],
      [
        '5,000,000 events; 150,000 of them become jobs, the most that one key can call: issues of 2,000 bytes',
        dollars(month(150_000, 2_000, 4_850_000)),
      ],
    ],
    options: [
      ['option', 'cost'],
      [
        'another connection, without events: its secret, and what the sweep reads of it',
        `${dollars(idle)} a month, and ${dollars(price('secret'))} more if people link accounts`,
      ],
      ['a network that the stack creates: a NAT gateway', `${dollars(price('natGatewayHour') * MONTH_HOURS)} a month`],
      ['its address', `${dollars(price('addressHour') * MONTH_HOURS)} a month`],
      ['its two interface endpoints in two zones', `${dollars(2 * 2 * price('endpointHour') * MONTH_HOURS)} a month`],
      [
        '`httpApi`',
        `${dollars(price('millionApiRequests'))} a million requests, and ${dollars(ROUTES * METRICS_OF_ROUTE * price('metric'))} a month for the metrics of its ${ROUTES} routes`,
      ],
    ],
    flood: floodTable(wanted),
  };
}

function floodTable(wanted: Parameters<typeof defineConfig>[0]): Row[] {
  const config = defineConfig(wanted);
  const { dev, 'http-api': withApi } = config.deployment.stages;
  if (!dev || !withApi?.httpApi) throw new Error('the configuration lacks a stage');
  const bound = (one: typeof dev) => ({ ...one, accountConcurrency: QUOTA.executions });
  const [stage, api] = [bound(dev), bound(withApi)];
  const requests = [
    QUOTA.executions * REQUESTS_PER_EXECUTION,
    2 * (reservedForOpen(config, stage) ?? 0) * REQUESTS_PER_EXECUTION,
    withApi.httpApi.requestsPerSecond,
  ];
  const writes = [QUOTA.writeUnits, tableLimits(config, stage).write, tableLimits(config, api).write];
  const aRequest = millionEvents('is handled by no automation, or refused') / 1e6;
  const byApi = price('millionApiRequests') / 1e6;
  const days = (perSecond: number, each: number) => dollars(perSecond * each * DAY_SECONDS);
  return [
    ['one connection and Slack', 'without limits', 'with `accountConcurrency`', 'with `httpApi`'],
    ['requests a second', ...requests.map(amount)],
    ['write units a second, of the table and of each index', ...writes.map(amount)],
    ['a day of forged requests', ...requests.map((count, at) => days(count, aRequest + (at === 2 ? byApi : 0)))],
    [
      'a day of signed requests: writes to the table',
      ...writes.map((count) => days(count, price('millionWriteUnits') / 1e6)),
    ],
  ];
}
