/** All metrics of the relay, with their units in CloudWatch. */
const units = {
  /** Verified deliveries and commands, including ignored ones. */
  EventsReceived: 'Count',
  /** Deliveries and commands that became jobs. */
  EventsTaken: 'Count',
  /** Events on which a team's own automation failed before it made jobs from them. */
  OwnAutomationsFailed: 'Count',
  /**
   * Such events from people whose role the event does not show. They raise no alarm, because a stranger may cause them.
   */
  OwnAutomationsFailedForStrangers: 'Count',
  JobsSucceeded: 'Count',
  JobsParked: 'Count',
  StepsFailed: 'Count',
  /** The time from storing a job to the answer of one of its partner operations. */
  EventToOperation: 'Milliseconds',
  /** The time from storing a job to delivering its outcome in Slack. */
  SlackReply: 'Milliseconds',
  /** The number of 429 answers of the service, which should be 0. */
  RateLimited: 'Count',
  /** Jobs that wait until tomorrow because outside contributors have used up their share of the day. */
  StrangersWait: 'Count',
  /** Calls that the service refused because of the key or signature. */
  CredentialsRefused: 'Count',
  /** GitHub deliveries that failed and are no longer redelivered. */
  DeliveriesGivenUp: 'Count',
  /** Current: the hooks for which GitHub refuses to list or redeliver deliveries. */
  HooksRefused: 'Count',
  /** 1 each time that job-sweep completes. */
  Heartbeat: 'Count',
  /** Current: the number of parked jobs, up to a hundred. */
  ParkedJobs: 'Count',
  /** Current: the delay of the most overdue job, or the longest time for which no worker has claimed a queued job. */
  OldestOverdue: 'Seconds',
  /**
   * Current: the longest wait of a queued job for a worker, if it is more than a minute and the job waits for no other
   * job.
   */
  OldestQueued: 'Seconds',
  /** Current, for each connection: the used part of its limits. */
  MinuteBudgetUsed: 'Percent',
  DayBudgetUsed: 'Percent',
  /** Current, for each connection: 1 while it is paused or down. */
  ConnectionPaused: 'Count',
  /** Current, for each connection: the number of operations that are stopped because they fail. */
  OperationsStopped: 'Count',
  /**
   * Counted once each: connections that have been paused for five minutes, connections whose key is refused, and
   * operations that have failed for a long time.
   */
  NewlyPaused: 'Count',
  NewlyRefused: 'Count',
  NewlyFailing: 'Count',
  /** Messages that were moved to a dead-letter queue. */
  NewlyDead: 'Count',
  /** Runs that ended because a newer version wrote an item that they need. */
  NewerItems: 'Count',
  /** Invalid credentials of connections that did not fail the last check. */
  NewlyInvalid: 'Count',
  /** Last check: how many credentials of connections, of GitHub or of Slack are unusable. */
  ConnectionCredentialsFail: 'Count',
  GithubCredentialsFail: 'Count',
  SlackCredentialsFail: 'Count',
} as const;

export type MetricName = keyof typeof units;

export const METRIC_NAMES = Object.keys(units) as MetricName[];

export const METRIC_NAMESPACE = 'PartnerRelay';

/**
 * Records metrics. Stage is their only dimension, so that their number, their price and the alarms do not grow with the
 * connections. The log line of a metric names its connection, where CloudWatch Logs Insights finds it.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export interface Metrics {
  record(values: Partial<Record<MetricName, number>>, connection?: string): void;
}

/**
 * Writes metrics in CloudWatch's embedded metric format: one line of JSON for each, which CloudWatch reads from the
 * log.
 * @param write writes a line to standard output unchanged; `console` would wrap it in a log record
 */
export function createMetrics(stage: string, write: (line: string) => void, clock: () => number): Metrics {
  return {
    record(values, connection) {
      const names = Object.keys(values) as MetricName[];
      write(
        `${JSON.stringify({
          _aws: {
            Timestamp: clock(),
            CloudWatchMetrics: [
              {
                Namespace: METRIC_NAMESPACE,
                Dimensions: [['Stage']],
                Metrics: names.map((Name) => ({ Name, Unit: units[Name] })),
              },
            ],
          },
          Stage: stage,
          ...(connection !== undefined && { Connection: connection }),
          ...values,
        })}\n`,
      );
    },
  };
}
