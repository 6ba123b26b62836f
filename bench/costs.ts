import type { Template } from 'aws-cdk-lib/assertions';
import { REQUESTS_PER_EXECUTION, reservedForOpen, tableLimits } from '../lib/config/capacity.ts';
import { defineConfig } from '../lib/config/schema.ts';
import { METRIC_NAMES } from '../lib/state/metrics/metrics.ts';
import { synthesize } from '../test/infra/variants.ts';
import type { Figure } from './figure.ts';

/** List prices of us-east-1 in US dollars. docs/deploy.md#what-it-costs names the sources. */
const PRICES = {
  millionRequests: 0.2,
  gigabyteSecond: 0.0000133334,
  gigabyteOfLogs: 0.5,
  millionWriteUnits: 0.625,
  millionReadUnits: 0.125,
  millionApiRequests: 1,
  metric: 0.3,
  alarm: 0.1,
  dashboard: 3,
  secret: 0.4,
};
/** The schedules, and Lambda's polling of two queues. */
const SCHEDULES_AND_POLLING = 0.8;
/** A request that is refused: so long at 1 GB, and so much in the logs, as an event that no automation handles. */
const REFUSED = { seconds: 0.015, gigabytesOfLogs: 1e-6 };
const DAY_SECONDS = 86_400;
/** Quotas of a usual account: concurrent executions of Lambda, and write units a second of a table. */
const QUOTA = { executions: 1_000, writeUnits: 40_000 };

/** What a stage costs a month when nothing happens, and what a day of a flood costs at most. */
export async function* computeCosts(): AsyncGenerator<Figure> {
  const wanted = {
    connections: { main: {} },
    slack: { connection: 'main' },
    deployment: { stages: { dev: {}, 'http-api': { httpApi: {} } } },
  };
  yield fixedCosts(synthesize('dev', wanted).template());

  const config = defineConfig(wanted);
  const { dev, 'http-api': withApi } = config.deployment.stages;
  if (!dev || !withApi?.httpApi) throw new Error('the configuration lacks a stage');
  const bound = (one: typeof dev) => ({ ...one, accountConcurrency: QUOTA.executions });
  const [stage, api] = [bound(dev), bound(withApi)];
  const reserved = 2 * (reservedForOpen(config, stage) ?? 0);
  const refused = PRICES.millionRequests / 1e6 + REFUSED.seconds * PRICES.gigabyteSecond;
  const aRequest = refused + REFUSED.gigabytesOfLogs * PRICES.gigabyteOfLogs;
  yield flood('forged requests, nothing reserved', QUOTA.executions * REQUESTS_PER_EXECUTION, 'requests', aRequest);
  yield flood('forged requests, with accountConcurrency', reserved * REQUESTS_PER_EXECUTION, 'requests', aRequest);
  yield flood(
    'forged requests, with httpApi',
    withApi.httpApi.requestsPerSecond,
    'requests',
    aRequest + PRICES.millionApiRequests / 1e6,
  );
  const aUnit = PRICES.millionWriteUnits / 1e6;
  yield flood('signed requests: writes, without the limit', QUOTA.writeUnits, 'write units', aUnit);
  yield flood('signed requests: writes', tableLimits(config, stage).write, 'write units', aUnit);
  yield flood('signed requests: writes, with httpApi', tableLimits(config, api).write, 'write units', aUnit);
}

function fixedCosts(template: Template): Figure {
  const alarms = Object.keys(template.findResources('AWS::CloudWatch::Alarm')).length;
  const secrets = Object.keys(template.findResources('AWS::SecretsManager::Secret')).length;
  const parts = {
    [`${METRIC_NAMES.length} metrics`]: METRIC_NAMES.length * PRICES.metric,
    'a dashboard': PRICES.dashboard,
    [`${alarms} alarms`]: alarms * PRICES.alarm,
    [`${secrets} secrets`]: secrets * PRICES.secret,
    'schedules and polling': SCHEDULES_AND_POLLING,
  };
  return {
    name: 'a month without events, in $',
    value: sum(Object.values(parts)),
    detail: Object.entries(parts)
      .map(([what, price]) => `${what} $${price.toFixed(2)}`)
      .join(', '),
  };
}

const flood = (name: string, perSecond: number, what: string, each: number): Figure => ({
  name: `a day of ${name}, in $`,
  value: perSecond * each * DAY_SECONDS,
  detail: `${perSecond.toLocaleString('en')} ${what} a second`,
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
