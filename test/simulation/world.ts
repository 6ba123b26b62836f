import type { RelayConfig } from '../../lib/config/schema.ts';
import { type Runtime, systemRuntime } from '../../lib/runtime.ts';
import { createMetrics, METRIC_NAMESPACE } from '../../lib/state/metrics/metrics.ts';
import type { createGithubStandIn } from '../../local/github/stand-in.ts';
import type { createSlackStandIn } from '../../local/slack/stand-in.ts';
import { variablesAt } from '../../local/world/aws.ts';
import type { VirtualTime } from '../service/budget/virtual-time.ts';
import type { Service } from './service.ts';

/** A metric's value in CloudWatch, from the functions or from AWS. */
export interface MetricValue {
  /** Virtual time. */
  at: number;
  namespace: string;
  name: string;
  /** The queue, function or operation in the metric's dimensions. */
  of?: string;
  value: number;
}

/** What all processes share. */
export interface World {
  time: VirtualTime;
  random: () => number;
  config: RelayConfig;
  service: Service;
  slack: ReturnType<typeof createSlackStandIn>;
  github: ReturnType<typeof createGithubStandIn>;
  /** Errors that functions threw or logged: the first of each kind, with its number. */
  errors: Map<string, number>;
  metrics: MetricValue[];
}

/** A process of a function. */
export interface Process {
  runtime: Runtime;
  /** The job that the process works on, whose calls these are. */
  work: { jobId: string };
}

/** The environment of every function. */
export const VARIABLES = { ...variablesAt('simulation'), STAGE: 'simulation' };

/** The time of an answer of GitHub and of Slack. */
const GITHUB_MS = 800;
const SLACK_MS = [30, 200] as const;

/** The greatest error of a process's clock, in either direction. */
const CLOCK_ERROR_MS = 500;

/** Starts a process with its own clock, which is ahead by `aheadMs` in addition to the usual error. */
export function startProcess(world: World, aheadMs = 0): Process {
  const { time, random, config, service, slack, github } = world;
  const clockError = (2 * random() - 1) * CLOCK_ERROR_MS + aheadMs;
  const clock = () => Math.floor(time.now + clockError);
  const work = { jobId: '' };
  const runtime: Runtime = {
    ...systemRuntime(config, VARIABLES),
    clock,
    random,
    randomBytes: (size) => Uint8Array.from({ length: size }, () => Math.floor(random() * 256)),
    sleep: (ms) => time.sleep(ms),
    fetch: async (input, init = {}) => {
      const url = new URL(String(input));
      if (url.hostname === 'api.github.com') {
        await time.sleep(GITHUB_MS);
        return github.fetch(url, init);
      }
      if (url.origin !== slack.slack.url) return service.fetch(url, init, work.jobId);
      await time.sleep(SLACK_MS[0] + random() * (SLACK_MS[1] - SLACK_MS[0]));
      return slack.fetch(url, init);
    },
    log: { info() {}, warn() {}, error: (line) => noteError(world, line) },
    metrics: createMetrics(VARIABLES.STAGE, (line) => noteMetrics(world, line), clock),
  };
  return { runtime, work };
}

/** @param line in the embedded metric format */
function noteMetrics({ time, metrics }: World, line: string): void {
  const { _aws, Stage, Connection: _, ...values } = JSON.parse(line) as Record<string, unknown>;
  const about = { at: time.now, namespace: METRIC_NAMESPACE };
  for (const [name, value] of Object.entries(values)) metrics.push({ ...about, name, value: Number(value) });
}

/** Records AWS's own metric of a queue, a function or an operation. */
export function noteAwsMetric(
  { time, metrics }: World,
  service: string,
  name: string,
  value: number,
  of?: string,
): void {
  metrics.push({ at: time.now, namespace: `AWS/${service}`, name, value, ...(of !== undefined && { of }) });
}

export function noteError({ errors }: World, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? String(error)) : JSON.stringify(error);
  const [kind = ''] = text.split(/[\da-f]{8,}|\n/, 1);
  const known = [...errors.keys()].find((one) => one.startsWith(kind)) ?? text;
  errors.set(known, (errors.get(known) ?? 0) + 1);
}
