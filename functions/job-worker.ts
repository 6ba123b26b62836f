import '../lib/without-jit.ts';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import config from '#relay.config';
import { createAutomations } from '../lib/automations/automations.ts';
import { createBudget } from '../lib/budget/budget.ts';
import { createStrangerShare } from '../lib/budget/stranger-share.ts';
import { createBreakers } from '../lib/connection/breakers.ts';
import { createConnections } from '../lib/connection/connection.ts';
import { createCollaborators } from '../lib/github/collaborators.ts';
import { createGithubForJobs } from '../lib/github/github-for-jobs.ts';
import { createIssueComments } from '../lib/github/issue-comments.ts';
import { createIssueReader } from '../lib/github/issue-reader.ts';
import { openJournal } from '../lib/jobs/journal.ts';
import { receiveMessages } from '../lib/jobs/receive-messages.ts';
import { tellNews } from '../lib/jobs/tell-news.ts';
import { createWaitingLines } from '../lib/jobs/waiting-line.ts';
import { createPeople } from '../lib/people/people.ts';
import { createSlackPeople } from '../lib/people/slack-people.ts';
import { createReplies } from '../lib/replies.ts';
import { openStores, type Runtime, systemRuntime } from '../lib/runtime.ts';
import { createKnownProjects } from '../lib/slack/known-projects.ts';
import { createSlackApi } from '../lib/slack/slack-api.ts';
import { createFirstTimeEntries } from '../lib/timesheets/first-time-entry.ts';
import { createMutes } from '../lib/timesheets/mutes.ts';
import { createRecentTasks } from '../lib/timesheets/recent-tasks.ts';
import { createTaskNames } from '../lib/timesheets/task-names.ts';

/** Works on jobs: claims one, runs its steps within the budget, and replies. */
export function createHandler(runtime: Runtime) {
  const { config, clock, random, randomBytes, sleep, fetch, log, metrics } = runtime;
  const { contact, slack: settings } = config;
  const { table, jobs, queue, links, secrets } = openStores(runtime);
  const github = createGithubForJobs({ apiUrl: config.github.apiUrl, secrets, clock, fetch });
  const comments = createIssueComments(github, clock);
  const collaborators = createCollaborators(github, clock);
  const issues = createIssueReader(github);
  const slack = settings && createSlackApi({ apiUrl: settings.apiUrl, secrets, fetch });
  const automations = createAutomations({
    ...{
      config,
      settings,
      contact,
      table,
      links,
      jobs,
      queue,
      comments,
      collaborators,
      issues,
      slack,
      clock,
      randomBytes,
    },
    journal: (jobId) => openJournal(table, jobId, clock),
    people: createPeople({ config, table, slack, clock }),
    slackPeople: createSlackPeople({ config, table, slack, clock }),
    mutes: createMutes(table, clock),
    recentTasks: createRecentTasks(table, clock),
    taskNames: createTaskNames(table, clock),
    firstEntries: createFirstTimeEntries({ config, table, jobs, clock }),
    projects: createKnownProjects(table, clock),
  });
  const connection = createConnections({ config, secrets, clock, fetch, random: randomBytes });
  const budget = createBudget(table, clock, random, sleep);
  const breakers = createBreakers({
    ...{ table, clock, random },
    async recovered(name) {
      const works = connection(name);
      try {
        if (works) await lines.moveOn(works, true);
      } catch (error) {
        // The sweep moves the line too.
        log.warn({ message: 'the waiting line could not be moved on', connection: name, error: String(error) });
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
    automation: (name: string) => automations.get(name),
    replies: createReplies({ comments, slack, slackApiUrl: settings?.apiUrl, contact, clock, fetch }),
    clock,
    sleep,
    random,
    tell: tellNews(log, metrics),
  };
  return middy<SQSEvent, SQSBatchResponse>().handler((event, context) => receiveMessages(event, context, options));
}

export const handler = createHandler(systemRuntime(config, process.env));
