import type { LinkRequests } from '../account-link/link-requests.ts';
import type { Permissions } from '../automations/permissions.ts';
import type { BudgetView } from '../budget/budget.ts';
import type { RelayConfig, SlackConfig } from '../config/schema.ts';
import type { Grants } from '../grants/grants.ts';
import type { JobDraft } from '../jobs/job.ts';
import type { Admission } from '../slack/admission.ts';
import type { KnownProjects } from '../slack/known-projects.ts';
import type { ResponseUrls } from '../slack/response-url.ts';
import type { SlackApi } from '../slack/slack-api.ts';
import type { Mutes } from '../timesheets/mutes.ts';
import type { JobsOfPerson } from './jobs-of-person.ts';
import type { RecentCommands } from './recent-commands.ts';

/** What people's requests are answered with, before they are jobs. */
export interface SlackIntake {
  config: RelayConfig;
  settings: SlackConfig;
  /** With a time-out that leaves room within Slack's three seconds. */
  slack: SlackApi;
  responseUrls: ResponseUrls;
  admission: Admission;
  permissions: Permissions;
  clock: () => number;
  projects: KnownProjects;
  recentCommands: RecentCommands;
  jobsOfPerson: JobsOfPerson;
  mutes: Mutes;
  grants: Pick<Grants, 'get' | 'forget'>;
  linkRequests: LinkRequests;
  /** Where browsers find account-link, without a slash at its end; undefined where it is not deployed. */
  accountLinkUrl(): string | undefined;
  /** Lets the jobs of a person that wait go on now. Those that stand in line wait for the budget, and stay there. */
  goOn(userId: string, connection: string): Promise<void>;
  budgetOf(connection: string): Promise<BudgetView>;
  /** Whether the service is known to have a user for the person, as far as the table says. */
  isKnown(userId: string, connection: string): Promise<boolean>;
  /** Makes the job of a person safe, unless too many of theirs have not ended. */
  accept(draft: JobDraft, userId: string): Promise<Accepted>;
}

/**
 * What became of a job: once it is safe, the person may be told so. `before` says that the same event was accepted before
 * with another input, which stays.
 */
export type Accepted = 'safe' | 'before' | 'too many';

/** The connection that a channel's commands go to. */
export function connectionOf({ settings }: SlackIntake, channelId: string): string {
  return settings.channels[channelId]?.connection ?? settings.connection;
}
