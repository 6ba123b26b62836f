import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import config from '#relay.config';
import { createAutomations } from '../lib/automations/automations.ts';
import { createBudget } from '../lib/budget/budget.ts';
import { createConnections } from '../lib/connection/connection.ts';
import { createOutages } from '../lib/connection/outages.ts';
import { createIssueComments } from '../lib/github/issue-comments.ts';
import { openJournal } from '../lib/jobs/journal.ts';
import { receiveMessages } from '../lib/jobs/receive-messages.ts';
import { tellNews } from '../lib/jobs/tell-news.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** Works on jobs: claims one, runs its steps within the budget, and replies. */
export function createHandler(runtime: Runtime) {
  const { config, clock, random, randomBytes, sleep, fetch, log, metrics } = runtime;
  const { table, jobs, queue, links, secrets } = openStores(runtime);
  const comments = createIssueComments({ apiUrl: config.github.apiUrl, secrets, clock, fetch });
  const journal = (jobId: string) => openJournal(table, jobId, clock);
  const automations = createAutomations({ config, links, jobs, journal, comments, clock, randomBytes });
  const options = {
    table,
    jobs,
    queue,
    budget: createBudget(table, clock, random),
    outages: createOutages(table, clock, random),
    connection: createConnections({ config, secrets, clock, fetch, random: randomBytes }),
    automation: (name: string) => automations.get(name),
    clock,
    sleep,
    random,
    tell: tellNews(log, metrics),
  };
  return middy<SQSEvent, SQSBatchResponse>().handler((event, context) => receiveMessages(event, context, options));
}

export const handler = createHandler(systemRuntime(config, process.env));
