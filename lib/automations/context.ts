import type { Environment } from '../config/environment.ts';
import { openJournal } from '../engine/record/journal.ts';
import { createMarkers } from '../engine/record/markers.ts';
import { createLinks } from '../links/links.ts';
import { createRelations } from '../links/relations.ts';
import { createPeople } from '../people/people.ts';
import { createCollaborators } from '../platforms/github/collaborators.ts';
import { createGithubClient } from '../platforms/github/github-client.ts';
import { createIssueComments } from '../platforms/github/issue-comments.ts';
import { createArtifacts } from '../platforms/github/runs/artifacts.ts';
import { createKnownTasks } from '../platforms/slack/known-names.ts';
import { createKnownProjects } from '../platforms/slack/known-projects.ts';
import { createSlackApi } from '../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../runtime.ts';
import { createAbsences } from '../timesheets/absences.ts';
import { createFirstTimeEntries } from '../timesheets/first-time-entry.ts';
import { createKnownTimesheets } from '../timesheets/known-timesheets.ts';
import { createAsPerson } from './as-person.ts';

/** The context of automations, in addition to the steps of their job. */
export type Context = ReturnType<typeof createContext>;

/** The parts of the context that a plan reads to predict what the relay would do with an event. */
export type PlanContext = Pick<Context, 'links' | 'jobs' | 'journal'>;

export function createContext(
  {
    config,
    custom,
    environment,
    clock,
    fetch,
    log,
  }: Pick<Runtime, 'config' | 'custom' | 'clock' | 'fetch' | 'log'> & { environment: Pick<Environment, 'STAGE'> },
  { table, jobs, queue, secrets }: Stores,
) {
  const github = createGithubClient({ apiUrl: config.github.apiUrl, secrets, clock, fetch });
  const slack = config.slack && createSlackApi({ apiUrl: config.slack.apiUrl, secrets, fetch });
  const journal = (jobId: string) => openJournal(table, jobId, clock);
  const people = createPeople({ config, table, slack, clock });
  return {
    config,
    custom,
    stage: environment.STAGE,
    clock,
    log,
    table,
    jobs,
    queue,
    secrets,
    journal,
    github,
    /** Undefined if relay.config.ts has no slack. */
    slack,
    people,
    links: createLinks(table, clock),
    relations: createRelations(table),
    markers: createMarkers(secrets),
    asPerson: createAsPerson(config, people),
    comments: createIssueComments(github, clock),
    artifacts: createArtifacts(github, fetch, config.github.apiUrl),
    collaborators: createCollaborators(github, clock),
    absences: createAbsences(table, clock),
    /** Used to read the calendars of absences. */
    calendars: { secrets, fetch },
    knownTasks: createKnownTasks(table),
    timesheetOf: createKnownTimesheets(table, clock),
    firstEntries: createFirstTimeEntries({ config, table, jobs, clock }),
    projects: createKnownProjects(table, clock),
  };
}
