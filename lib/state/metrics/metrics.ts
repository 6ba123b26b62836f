/** Every metric of the relay, and its unit in CloudWatch. */
const units = {
  /** Verified deliveries and commands, including ignored ones. */
  EventsReceived: 'Count',
  /** Deliveries and commands that became jobs. */
  EventsTaken: 'Count',
  /** Events that a team's own automation failed on, before it made a job of them. */
  OwnAutomationsFailed: 'Count',
  /** The same for people whose role the event does not show. It raises no alarm, because a stranger may cause it. */
  OwnAutomationsFailedForStrangers: 'Count',
  JobsSucceeded: 'Count',
  JobsParked: 'Count',
  StepsFailed: 'Count',
  /** From storing a job to the answer of one of its partner operations. */
  EventToOperation: 'Milliseconds',
  /** From storing a job to delivering its outcome in Slack. */
  SlackReply: 'Milliseconds',
  /** 429 answers of the service, which should not happen. */
  RateLimited: 'Count',
  /** Jobs that wait until tomorrow because outside contributors have used up their share of the day. */
  StrangersWait: 'Count',
  /** Calls that the service refused because of the key or signature. */
  CredentialsRefused: 'Count',
  /** GitHub deliveries that failed and are no longer redelivered. */
  DeliveriesGivenUp: 'Count',
  /** Current: hooks for which GitHub refuses to list deliveries or to redeliver. */
  HooksRefused: 'Count',
  /** 1 each time that job-sweep completes. */
  Heartbeat: 'Count',
  /** Current: jobs that wait for a person, counted up to a hundred. */
  ParkedJobs: 'Count',
  /** Current: the delay of the most overdue job, or for how long no worker has claimed a queued one. */
  OldestOverdue: 'Seconds',
  /** Current: for how long a queued job has waited for a worker, if that is more than a minute and it waits for no other job. */
  OldestQueued: 'Seconds',
  /** Current, of each connection: the used part of its limits. */
  MinuteBudgetUsed: 'Percent',
  DayBudgetUsed: 'Percent',
  /** Current, of each connection: 1 while it is paused or down. */
  ConnectionPaused: 'Count',
  /** Current, of each connection: the number of operations that are stopped because they fail. */
  OperationsStopped: 'Count',
  /** Connections that have been paused for five minutes, that refuse the key, or whose operation has failed for long: once each. */
  NewlyPaused: 'Count',
  NewlyRefused: 'Count',
  NewlyFailing: 'Count',
  /** Messages that were moved to a dead-letter queue. */
  NewlyDead: 'Count',
  /** Runs that end because a newer version wrote something that they need. */
  NewerItems: 'Count',
  /** Credentials of connections that did not fail the check before. */
  NewlyInvalid: 'Count',
  /** Last check: how many credentials of connections, of GitHub or of Slack cannot be used. */
  ConnectionCredentialsFail: 'Count',
  GithubCredentialsFail: 'Count',
  SlackCredentialsFail: 'Count',
} as const;

export type MetricName = keyof typeof units;

export const METRIC_NAMES = Object.keys(units) as MetricName[];

export const METRIC_NAMESPACE = 'PartnerRelay';

/**
 * All metrics have the dimension Stage and no other, so their number, their price and the alarms do not grow with the
 * connections. What is recorded for a connection names it in the log line, where CloudWatch Logs Insights finds it.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export interface Metrics {
  record(values: Partial<Record<MetricName, number>>, connection?: string): void;
}

/**
 * Writes metrics in CloudWatch's embedded metric format: one line of JSON each, which CloudWatch reads from the log.
 *
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
