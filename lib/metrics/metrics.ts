/** Every metric of the relay, and its unit in CloudWatch. */
const units = {
  /** Verified deliveries and commands, wanted or not. */
  EventsReceived: 'Count',
  /** Those that became jobs. */
  EventsTaken: 'Count',
  JobsSucceeded: 'Count',
  JobsParked: 'Count',
  StepsFailed: 'Count',
  /** From storing a job to the answer of a partner operation of it. */
  EventToOperation: 'Milliseconds',
  /** From storing a job to the outcome that a person in Slack gets. */
  SlackReply: 'Milliseconds',
  /** 429 answers of the service, which should not happen. */
  RateLimited: 'Count',
  /** Jobs that wait for tomorrow, because strangers have used up their share of the day. */
  StrangersWait: 'Count',
  /** Calls that the service refused because of the key or the signature. */
  CredentialsRefused: 'Count',
  /** Deliveries of GitHub that did not arrive, and are not asked for any more. */
  DeliveriesGivenUp: 'Count',
  /** Now: hooks for which GitHub refuses to list deliveries, or to deliver again. */
  HooksRefused: 'Count',
  /** 1 each time that job-sweep has run to its end. */
  Heartbeat: 'Count',
  /** Now: jobs that wait for a person, counted up to a hundred. */
  ParkedJobs: 'Count',
  /** Now: how long ago the job that is most overdue should have been looked at. */
  OldestOverdue: 'Seconds',
  /** Now, of a connection: what is used of its limits. */
  MinuteBudgetUsed: 'Percent',
  DayBudgetUsed: 'Percent',
  /** Now, of a connection: 1 while it is paused or down. */
  ConnectionPaused: 'Count',
  /** Now, of a connection: how many of its operations are stopped because they fail. */
  OperationsStopped: 'Count',
  /** By the last check: 1 where the credentials of a connection, of GitHub, of Slack cannot be used, or else 0. */
  ConnectionCredentialsFail: 'Count',
  GithubCredentialsFail: 'Count',
  SlackCredentialsFail: 'Count',
} as const;

export type MetricName = keyof typeof units;

/** The namespace of all of them. */
export const METRIC_NAMESPACE = 'PartnerRelay';

/** Metrics have the dimension Stage, and those of a connection Connection too; there are no others. */
export interface Metrics {
  record(values: Partial<Record<MetricName, number>>, connection?: string): void;
}

/**
 * Metrics in CloudWatch's embedded metric format, a line of JSON each, which CloudWatch reads from the log.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 *
 * @param write writes a line to standard output as it is; `console` would put it into a record of its own
 */
export function createMetrics(stage: string, write: (line: string) => void, clock: () => number): Metrics {
  return {
    record(values, connection) {
      const dimensions = { Stage: stage, ...(connection !== undefined && { Connection: connection }) };
      const names = Object.keys(values) as MetricName[];
      write(
        `${JSON.stringify({
          _aws: {
            Timestamp: clock(),
            CloudWatchMetrics: [
              {
                Namespace: METRIC_NAMESPACE,
                Dimensions: [Object.keys(dimensions)],
                Metrics: names.map((Name) => ({ Name, Unit: units[Name] })),
              },
            ],
          },
          ...dimensions,
          ...values,
        })}\n`,
      );
    },
  };
}
