import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createActing } from '../lib/as-person/index.ts';
import { createAutomations } from '../lib/automations/automations.ts';
import { createContext } from '../lib/automations/context.ts';
import { endingCalls } from '../lib/aws-limits.ts';
import { sharesWorkers } from '../lib/config/capacity.ts';
import { createWaitingLines } from '../lib/engine/line/waiting-line.ts';
import { createJobSignatures } from '../lib/engine/record/job-signatures.ts';
import { createReplacedTable } from '../lib/engine/record/replaced-table.ts';
import { reportNews } from '../lib/engine/run/report-news.ts';
import { receiveMessages } from '../lib/engine/run/run-job.ts';
import { createReplies } from '../lib/replies/replies.ts';
import { ensureTime, openStores, type Runtime } from '../lib/runtime.ts';
import { createBudget } from '../lib/service/budget/budget.ts';
import { createStrangerShare } from '../lib/service/budget/stranger-share.ts';
import { createBreakers } from '../lib/service/connection/breakers.ts';
import { createConnections } from '../lib/service/connection/connection.ts';

/** Processes jobs: claims a job, runs its steps within the budget, and replies. */
export function createHandler(runtime: Runtime) {
  const { config, environment, random, randomBytes, sleep, fetch, log, metrics, runs } = runtime;
  const stores = openStores(runtime);
  const { dynamoDb: client, table, jobs, queue, secrets, clock } = stores;
  const context = createContext({ ...runtime, clock }, stores);
  const automations = createAutomations(context);
  const connection = createConnections({ config, secrets, clock, fetch, random: randomBytes });
  const budget = createBudget({
    table,
    random,
    sleep,
    keyHolder: connection,
    warn: log.warn,
    sharesWorkers: sharesWorkers(config, config.deployment.stages[environment.STAGE]),
  });
  const breakers = createBreakers({
    table,
    clock,
    random,
    warn: log.warn,
    async recovered(name) {
      const works = connection(name);
      try {
        if (works) await lines.moveOn(works, { atOnce: true });
      } catch (error) {
        // The error is only logged, because the sweep moves the line, too.
        log.warn({ message: 'the waiting line could not advance', connection: name, error: String(error) });
      }
    },
  });
  const lines = createWaitingLines({ jobs, queue, budget, breakers, clock, sleep });
  const options = {
    table,
    jobs,
    runs,
    queue,
    budget,
    breakers,
    replacedTable: createReplacedTable({ client, tableName: environment.TABLE_NAME, table, secrets, clock }),
    strangers: createStrangerShare(table, clock),
    lines,
    connection,
    signatures: createJobSignatures(secrets, config, clock),
    acting: createActing({ config, table, secrets, budget, clock, sleep, random, randomBytes, fetch }),
    automation: (name: string) => automations.get(name),
    replies: createReplies({ ...context, secrets, fetch }),
    clock,
    sleep,
    random,
    report: reportNews(log, metrics, clock),
  };
  return endingCalls(
    middy<SQSEvent, SQSBatchResponse>().handler(async (event, context) => {
      await ensureTime(table, log);
      return receiveMessages(event, context, options);
    }),
  );
}
