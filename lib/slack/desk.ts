import type { BudgetView } from '../budget/budget.ts';
import type { RelayConfig, SlackConfig } from '../config/schema.ts';
import type { JobDraft } from '../jobs/job.ts';
import type { JobsOfPerson } from '../people/jobs-of-person.ts';
import type { Mutes } from '../timesheets/mutes.ts';
import type { KnownProjects } from './known-projects.ts';
import type { SaidBefore } from './said-before.ts';
import type { SlackApi } from './slack-api.ts';

/** What people's requests are answered with, before they are jobs. */
export interface Desk {
  config: RelayConfig;
  settings: SlackConfig;
  /** With a time-out that leaves room within Slack's three seconds. */
  slack: SlackApi;
  fetch: typeof globalThis.fetch;
  clock: () => number;
  projects: KnownProjects;
  saidBefore: SaidBefore;
  jobsOfPerson: JobsOfPerson;
  mutes: Mutes;
  budgetOf(connection: string): Promise<BudgetView>;
  /**
   * Makes the job safe; once it returns, the person may be told so.
   * @returns whether it is this job: the same event may have been accepted before with another input, which stays
   */
  accept(draft: JobDraft): Promise<boolean>;
}

/** The connection that a channel's commands go to. */
export function connectionOf({ settings }: Desk, channelId: string): string {
  return settings.channels[channelId]?.connection ?? settings.connection;
}
