import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import config from '#relay.config';
import { createAutomations } from '../lib/automations/automations.ts';
import { createTools } from '../lib/automations/tools.ts';
import { createBudget } from '../lib/budget/budget.ts';
import { createStrangerShare } from '../lib/budget/stranger-share.ts';
import { createBreakers } from '../lib/connection/breakers.ts';
import { createConnections } from '../lib/connection/connection.ts';
import { createAssistants } from '../lib/grants/assistants.ts';
import { receiveMessages } from '../lib/jobs/receive-messages.ts';
import { reportNews } from '../lib/jobs/report-news.ts';
import { createWaitingLines } from '../lib/jobs/waiting-line.ts';
import { createReplies } from '../lib/replies.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';

/** Processes jobs: claims a job, runs its steps within the budget, and replies. */
export function createHandler(runtime: Runtime) {
  const { config, clock, random, randomBytes, sleep, fetch, log, metrics } = runtime;
  const stores = openStores(runtime);
  const { table, jobs, queue, secrets } = stores;
  const tools = createTools(runtime, stores);
  const automations = createAutomations(tools);
  const connection = createConnections({ config, secrets, clock, fetch, random: randomBytes });
  const budget = createBudget(table, clock, random, sleep);
  const breakers = createBreakers({
    ...{ table, clock, random },
    async recovered(name) {
      const works = connection(name);
      try {
        if (works) await lines.moveOn(works, true);
      } catch (error) {
        // An error is only logged, because the sweep moves the line too.
        log.warn({ message: 'the waiting line could not advance', connection: name, error: String(error) });
      }
    },
  });
  const lines = createWaitingLines({ jobs, queue, budget, breakers, clock });
  const options = {
    table,
    jobs,
    queue,
    budget,
    breakers,
    strangers: createStrangerShare(table, clock),
    lines,
    connection,
    assistants: createAssistants({ table, secrets, budget, clock, sleep, random, randomBytes, fetch }),
    automation: (name: string) => automations.get(name),
    replies: createReplies({ ...tools, fetch }),
    clock,
    sleep,
    random,
    report: reportNews(log, metrics),
  };
  return middy<SQSEvent, SQSBatchResponse>().handler((event, context) => receiveMessages(event, context, options));
}

export const handler = createHandler(systemRuntime(config, process.env));
