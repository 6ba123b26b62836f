import '../lib/without-jit.ts';
import middy from '@middy/core';
import { endingCalls } from '../lib/aws-limits.ts';
import { createConnectionCredential } from '../lib/credentials/connection-credential.ts';
import { checkCredentials } from '../lib/credentials/credential-check.ts';
import { createGithubCredential } from '../lib/credentials/github-credential.ts';
import { createSlackCredential } from '../lib/credentials/slack-credential.ts';
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
      .map((connection) => createConnectionCredential(connection, options)),
    createGithubCredential({ github, repositories: config.github.repositories.map(({ name }) => name), clock }),
    ...(config.slack ? [createSlackCredential(createSlackApi({ apiUrl: config.slack.apiUrl, secrets, fetch }))] : []),
  ];
  return endingCalls(
    middy<ScheduleEvent>().handler(async (_event, context) => {
      await beginRun('credential-check', table, log);
      const deadline = clock() + context.getRemainingTimeInMillis();
      return { checked: await checkCredentials(credentials, deadline, { table, secrets, sleep, log, metrics }) };
    }),
  );
}
