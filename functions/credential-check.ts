import '../lib/without-jit.ts';
import middy from '@middy/core';
import { endingCalls } from '../lib/aws-limits.ts';
import { connectionCredential } from '../lib/checks/connection-credential.ts';
import { checkCredentials } from '../lib/checks/credential-check.ts';
import { githubCredential } from '../lib/checks/github-credential.ts';
import { slackCredential } from '../lib/checks/slack-credential.ts';
import { createGithubClient } from '../lib/platforms/github/github-client.ts';
import { createSlackApi } from '../lib/platforms/slack/slack-api.ts';
import { beginRun, openStores, type Runtime } from '../lib/runtime.ts';
import type { ScheduleEvent } from '../lib/schedules.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { createConnections } from '../lib/service/connection/connection.ts';

/** Every hour: checks that all credentials work, to find a problem before an event fails. */
export function createHandler(runtime: Runtime) {
  const { config, random, randomBytes, sleep, fetch, log, metrics } = runtime;
  const { table, secrets, clock } = openStores(runtime);
  const connections = createConnections({ config, secrets, clock, fetch, random: randomBytes });
  const budget = createBudget({ table, random, keyHolder: connections, warn: log.warn });
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, clock, fetch });
  const options = { budget, metrics, clock, sleep };
  const credentials = [
    ...Object.keys(config.connections)
      .flatMap((name) => connections(name) ?? [])
      .map((connection) => connectionCredential(connection, options)),
    githubCredential(runtime.isGithubStandIn ? null : github, config.github.repositories),
    ...(config.slack ? [slackCredential(createSlackApi({ apiUrl: config.slack.apiUrl, secrets, fetch }))] : []),
  ];
  return endingCalls(
    middy<ScheduleEvent>().handler(async () => {
      await beginRun('credential-check', table, log);
      return { checked: await checkCredentials(credentials, { table, secrets, sleep, log, metrics }) };
    }),
  );
}
