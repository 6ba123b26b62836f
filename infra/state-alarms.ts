import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { CustomAutomations } from '../lib/triggers/custom-automation.ts';
import type { Alarms } from './alarms.ts';

/** Alarms about the relay's state, which job-sweep records every minute, and credential-check every hour. */
export function addStateAlarms(alarms: Alarms, config: RelayConfig, custom: CustomAutomations): void {
  alarms.add(alarms.metric('OldestOverdue', 'Maximum'), 'overdue-jobs', {
    threshold: 900,
    periods: 3,
    broken:
      'A job is 15 minutes overdue, or no worker has claimed it for that long: events reach the service late or not at all.',
    todo: 'Check that job-sweep and job-worker are running. npx partner-relay --stage <stage> budget shows whether the connection is paused.',
  });
  alarms.add(alarms.metric('OldestQueued', 'Maximum'), 'queued-jobs', {
    threshold: 60,
    periods: 2,
    broken: 'Jobs wait for a worker for more than a minute: events reach the service late.',
    todo: 'npx partner-relay --stage <stage> doctor says whether there are too few background workers. If not, check that job-worker runs: its errors and throttles, and the concurrency of the account.',
  });
  alarms.add(alarms.metric('Heartbeat', 'Sum'), 'heartbeat', {
    periods: 5,
    isSignOfLife: true,
    broken: 'job-sweep has not completed for five minutes: waiting jobs do not continue, and other alarms get no data.',
    todo: 'Read its log. If there is none, check that the schedule is enabled and the account has concurrency left.',
  });
  alarms.add(alarms.metric('DeliveriesGivenUp', 'Sum'), 'deliveries-given-up', {
    broken: 'A GitHub delivery failed, redelivery failed too, and the relay gave it up: its event is lost.',
    todo: 'The log of github-redelivery names the delivery. Check in the settings of the hook why it failed, and redeliver it there.',
  });
  alarms.add(alarms.metric('HooksRefused', 'Maximum'), 'hooks-refused', {
    staysAsItWas: true,
    broken: 'GitHub does not let the relay list the deliveries of a hook: failed deliveries are not requested again.',
    todo: 'The log of github-redelivery says which permission is missing; docs/redelivery.md lists them.',
  });
  alarms.add(alarms.metric('NewlyDead', 'Sum'), 'dead-letters', {
    isArrival: true,
    broken:
      'A message crashed the worker a hundred times and was moved to the dead-letter queue: the event of one job is not carried out.',
    todo: 'The log of job-sweep names the lane. Get the jobId from the message in its dead-letter queue and find it in the log of job-worker. Then run npx partner-relay --stage <stage> job <id>, which shows what to do next.',
  });
  alarms.add(alarms.metric('NewerItems', 'Sum', 5), 'newer-items', {
    periods: 3,
    broken:
      'For 15 minutes, jobs have needed what a newer version of the relay wrote, so a rollback left them waiting.',
    todo: 'Deploy the newer version again. docs/recovery.md#roll-back-to-an-older-version says how long they wait.',
  });
  if (custom.list.length > 0) {
    alarms.add(alarms.metric('OwnAutomationsFailed', 'Sum'), 'own-automations-failed', {
      isArrival: true,
      broken:
        'A file in automations/ threw an error on an event, which made no job. All other automations made theirs.',
      todo: 'The log of github-webhook or hooks-webhook names the file and the error. Repair and deploy it. github-redelivery requests a delivery of GitHub again for three days; send a request of another tool again from there.',
    });
  }
  addConnectionAlarms(alarms);
  addCredentialAlarm(alarms, alarms.metric('GithubCredentialsFail', 'Maximum'), {
    secret: 'github',
    broken:
      'the GitHub App or token does not work: issues get no comments, and failed deliveries are not requested again.',
  });
  if (!config.slack) return;
  addCredentialAlarm(alarms, alarms.metric('SlackCredentialsFail', 'Maximum'), {
    secret: 'slack',
    broken: 'the token of the Slack app does not work: people in Slack get no forms and no outcomes.',
  });
}

/**
 * Alarms about new troubles of all connections together. An alarm on the number of paused connections would not go off
 * again for the second one. The log of job-sweep names the connection, and so does the command in the alarm's text.
 */
function addConnectionAlarms(alarms: Alarms): void {
  alarms.add(alarms.metric('NewlyPaused', 'Sum'), 'connection-paused', {
    isArrival: true,
    broken: 'A connection has been paused for five minutes: no calls reach that instance.',
    todo: 'npx partner-relay --stage <stage> budget shows which one. Check whether another program uses the same key, or the instance is down. The relay resumes automatically.',
  });
  alarms.add(alarms.metric('NewlyFailing', 'Sum'), 'operations-stopped', {
    isArrival: true,
    broken: 'An operation has been failing for 15 minutes: the jobs that need it wait.',
    todo: 'npx partner-relay --stage <stage> budget shows which operation fails, for which connection, and why. The relay resumes automatically; npx partner-relay --stage <stage> resume <connection> tries at once.',
  });
  alarms.add(alarms.metric('NewlyRefused', 'Sum'), 'credentials-refused', {
    isArrival: true,
    broken: 'The service refuses the key of a connection: no calls reach that instance.',
    todo: 'npx partner-relay --stage <stage> budget shows which one. Check whether the key was rotated or revoked. Enter the new one with npx partner-relay --stage <stage> secrets set partner/<connection>.',
  });
  alarms.add(alarms.metric('StrangersWait', 'Sum'), 'strangers-wait', {
    broken: "Strangers have used up their share of the day's calls of a connection: their changes wait until tomorrow.",
    todo: 'npx partner-relay --stage <stage> budget lists them. Block them on GitHub, or raise connections.<name>.strangersShare.',
  });
  alarms.add(alarms.metric('DayBudgetUsed', 'Maximum'), 'day-budget', {
    threshold: 80,
    broken: "More than 80% of the day's calls of a connection are used: soon jobs will wait until tomorrow.",
    todo: 'npx partner-relay --stage <stage> budget shows which one, and npx partner-relay --stage <stage> jobs what uses them. Request a higher limit, or configure fewer labels.',
  });
  addCredentialAlarm(alarms, alarms.metric('NewlyInvalid', 'Sum'), {
    secret: 'partner/<connection>',
    name: 'partner',
    isArrival: true,
    broken: 'the credentials of a connection do not work: no calls reach that instance.',
  });
}

function addCredentialAlarm(
  alarms: Alarms,
  metric: IMetric,
  {
    secret,
    name = secret,
    isArrival = false,
    broken,
  }: { secret: string; name?: string; isArrival?: boolean; broken: string },
): void {
  alarms.add(metric, `credential-check-${name}`, {
    isArrival,
    staysAsItWas: !isArrival,
    broken: `According to the last hourly check, ${broken}`,
    todo: `The log of credential-check says which, and why. Enter the correct values with npx partner-relay --stage <stage> secrets set ${secret}, then check again with npx partner-relay --stage <stage> run credential-check.`,
  });
}
