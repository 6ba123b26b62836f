import type { RelayConfig } from '../config/schema.ts';
import type { JobQueue } from '../engine/line/queue.ts';
import type { JobStore } from '../engine/record/job-store.ts';
import { type Journal, openJournal } from '../engine/record/journal.ts';
import { createMarkers, type Markers } from '../engine/record/markers.ts';
import { createLinks, type Links } from '../links/links.ts';
import { createRelations, type Relations } from '../links/relations.ts';
import { createPeople, type People } from '../people/people.ts';
import { createSlackPeople, type SlackPeople } from '../people/slack-people.ts';
import { type CheckRuns, createCheckRuns } from '../platforms/github/checks/check-runs.ts';
import { createPullReader, type PullReader } from '../platforms/github/checks/pull-reader.ts';
import { type Collaborators, createCollaborators } from '../platforms/github/collaborators.ts';
import { createGithubForJobs } from '../platforms/github/github-for-jobs.ts';
import { createIssueComments, type IssueComments } from '../platforms/github/issue-comments.ts';
import { createIssuePages, type IssuePages } from '../platforms/github/issue-pages.ts';
import { createIssueReader, type IssueReader } from '../platforms/github/issue-reader.ts';
import { type Artifacts, createArtifacts } from '../platforms/github/runs/artifacts.ts';
import { createKnownProjects, type KnownProjects } from '../platforms/slack/known-projects.ts';
import { createKnownTasks, type KnownTasks } from '../platforms/slack/known-tasks.ts';
import { createSlackApi, type SlackApi } from '../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../runtime.ts';
import type { Table } from '../state/table/table.ts';
import { type Absences, createAbsences } from '../timesheets/absences.ts';
import { type ClosedWorks, createClosedWorks } from '../timesheets/closed-work.ts';
import { createFirstTimeEntries, type FirstTimeEntries } from '../timesheets/first-time-entry.ts';
import { createMutes, type Mutes } from '../timesheets/mutes.ts';
import { createRecentTasks, type RecentTasks } from '../timesheets/recent-tasks.ts';
import { createTaskNames, type TaskNames } from '../timesheets/task-names.ts';
import { type AsPerson, createAsPerson } from './as-person.ts';
import { type Backfills, createBackfills } from './backfill/backfills.ts';
import { type CheckedTasks, createCheckedTasks } from './check-pull-request/checked-tasks.ts';

/** What automations use, in addition to the steps of their job. */
export interface Context {
  config: RelayConfig;
  clock: () => number;
  table: Table;
  jobs: JobStore;
  queue: JobQueue;
  links: Links;
  relations: Relations;
  journal: (jobId: string) => Promise<Journal>;
  markers: Markers;
  comments: IssueComments;
  checks: CheckRuns;
  pulls: PullReader;
  checkedTasks: CheckedTasks;
  artifacts: Artifacts;
  collaborators: Collaborators;
  issues: IssueReader;
  issuePages: IssuePages;
  backfills: Backfills;
  /** Undefined if relay.config.ts has no slack. */
  slack: SlackApi | undefined;
  people: People;
  asPerson: AsPerson;
  slackPeople: SlackPeople;
  mutes: Mutes;
  absences: Absences;
  fetch: typeof globalThis.fetch;
  closedWorks: ClosedWorks;
  recentTasks: RecentTasks;
  taskNames: TaskNames;
  firstEntries: FirstTimeEntries;
  projects: KnownProjects;
  knownTasks: KnownTasks;
}

/** GitHub's own time limit for a request. */
const LIST_TIMEOUT_MS = 10_000;

export function createContext(
  { config, clock, fetch }: Pick<Runtime, 'config' | 'clock' | 'fetch'>,
  { table, jobs, queue, secrets }: Stores,
): Context {
  const github = createGithubForJobs({ apiUrl: config.github.apiUrl, secrets, clock, fetch });
  const forLists = createGithubForJobs({
    apiUrl: config.github.apiUrl,
    secrets,
    clock,
    fetch,
    timeoutMs: LIST_TIMEOUT_MS,
  });
  const slack = config.slack && createSlackApi({ apiUrl: config.slack.apiUrl, secrets, fetch });
  const journal = (jobId: string) => openJournal(table, jobId, clock);
  const people = createPeople({ config, table, slack, clock });
  return {
    config,
    clock,
    table,
    jobs,
    queue,
    links: createLinks(table, clock),
    relations: createRelations(table),
    slack,
    journal,
    people,
    markers: createMarkers(secrets),
    asPerson: createAsPerson({ config, people, journal }),
    comments: createIssueComments(github, clock),
    checks: createCheckRuns(github),
    pulls: createPullReader(github),
    checkedTasks: createCheckedTasks(table, clock),
    artifacts: createArtifacts(forLists, fetch, config.github.apiUrl),
    collaborators: createCollaborators(github, clock),
    issues: createIssueReader(github),
    issuePages: createIssuePages(forLists),
    backfills: createBackfills(table, clock),
    slackPeople: createSlackPeople({ config, table, slack, clock }),
    mutes: createMutes(table, clock),
    absences: createAbsences(table, clock),
    fetch,
    closedWorks: createClosedWorks(table, clock),
    recentTasks: createRecentTasks(table, clock),
    knownTasks: createKnownTasks(table),
    taskNames: createTaskNames(table, clock),
    firstEntries: createFirstTimeEntries({ config, table, jobs, clock }),
    projects: createKnownProjects(table, clock),
  };
}
