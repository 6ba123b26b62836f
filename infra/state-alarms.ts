import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { Alarms } from './alarms.ts';

/** The alarms on how the relay stands: on what job-sweep records every minute, and credential-check every hour. */
export function addStateAlarms(alarms: Alarms, config: RelayConfig): void {
  alarms.add(alarms.metric('OldestOverdue', 'Maximum'), 'overdue-jobs', {
    threshold: 900,
    minutes: 3,
    broken: 'A job should have gone on a quarter of an hour ago: events reach the service late, or not at all.',
    todo: 'Are job-sweep and job-worker running, and is the connection paused? relay --stage <stage> budget says so.',
  });
  alarms.add(alarms.metric('Heartbeat', 'Sum'), 'heartbeat', {
    threshold: 1,
    minutes: 5,
    isSignOfLife: true,
    broken:
      'job-sweep has not run to its end for five minutes: jobs that wait do not go on, and no other alarm is fed.',
    todo: 'Read its log; if it has none, look whether the schedule is enabled and the account has concurrency left.',
  });
  alarms.add(alarms.metric('DeliveriesGivenUp', 'Sum'), 'deliveries-given-up', {
    threshold: 1,
    broken: 'A delivery of GitHub did not arrive, was asked for again in vain, and is given up: its event is lost.',
    todo: 'The log of github-redelivery names it; see in the settings of the hook why it failed, and redeliver it there.',
  });
  alarms.add(alarms.metric('HooksRefused', 'Maximum'), 'hooks-refused', {
    threshold: 1,
    staysAsItWas: true,
    broken: 'GitHub does not let the relay list the deliveries of a hook: what fails to arrive is not asked for again.',
    todo: 'The log of github-redelivery says which permission is missing; docs/redelivery.md lists them.',
  });
  for (const connection of Object.keys(config.connections)) addConnectionAlarms(alarms, connection);
  addCredentialAlarm(alarms, alarms.metric('GithubCredentialsFail', 'Maximum'), {
    party: 'github',
    broken: 'the GitHub App or the token cannot be used: issues get no comments, and lost deliveries stay lost.',
  });
  if (!config.slack) return;
  addCredentialAlarm(alarms, alarms.metric('SlackCredentialsFail', 'Maximum'), {
    party: 'slack',
    broken: 'the token of the Slack app cannot be used: people in Slack get no modal, and no answer later on.',
  });
}

function addConnectionAlarms(alarms: Alarms, connection: string): void {
  alarms.add(alarms.metric('ConnectionPaused', 'Maximum', connection), `paused-${connection}`, {
    threshold: 1,
    minutes: 5,
    broken: `The connection ${connection} has been paused for five minutes: nothing reaches that instance.`,
    todo: 'Does another program use the same key, or is the instance down? It goes on by itself.',
  });
  alarms.add(alarms.metric('OperationsStopped', 'Maximum', connection), `operations-${connection}`, {
    threshold: 1,
    minutes: 15,
    broken: `An operation of the connection ${connection} has failed for a quarter of an hour: the jobs that need it wait.`,
    todo: 'relay --stage <stage> budget says which, and why. It goes on by itself; relay --stage <stage> resume tries at once.',
  });
  alarms.add(alarms.metric('CredentialsRefused', 'Sum', connection), `credentials-${connection}`, {
    threshold: 1,
    broken: `The service refuses the key of the connection ${connection}: nothing reaches that instance.`,
    todo: `Was it rotated or revoked? Enter the new one with relay --stage <stage> secrets set partner/${connection}.`,
  });
  alarms.add(alarms.metric('StrangersWait', 'Sum', connection), `strangers-${connection}`, {
    threshold: 1,
    broken: `People from outside have used up their share of the day's calls of the connection ${connection}: what they change waits until tomorrow.`,
    todo: 'relay --stage <stage> budget says who; block them on GitHub, or raise connections.<name>.strangersShare.',
  });
  alarms.add(alarms.metric('DayBudgetUsed', 'Maximum', connection), `day-budget-${connection}`, {
    threshold: 80,
    broken: `More than 80% of the day's calls of the connection ${connection} are used: soon jobs will wait until tomorrow.`,
    todo: 'relay --stage <stage> jobs shows what uses them; ask for a higher limit, or follow fewer labels.',
  });
  addCredentialAlarm(alarms, alarms.metric('ConnectionCredentialsFail', 'Maximum', connection), {
    party: `partner/${connection}`,
    broken: `the connection ${connection} cannot be used: nothing reaches that instance.`,
  });
}

function addCredentialAlarm(
  alarms: Alarms,
  metric: IMetric,
  { party, broken }: { party: string; broken: string },
): void {
  alarms.add(metric, `credential-check-${party.replace('/', '-')}`, {
    threshold: 1,
    staysAsItWas: true,
    broken: `By the last hourly check ${broken}`,
    todo: `The log of credential-check says why. Enter what is right with relay --stage <stage> secrets set ${party}; relay --stage <stage> run credential-check looks again.`,
  });
}
