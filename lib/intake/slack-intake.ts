import type { LinkRequests } from '../account-link/link-requests.ts';
import type { Permissions } from '../automations/permissions.ts';
import type { BudgetView } from '../budget/budget.ts';
import type { RelayConfig, SlackConfig } from '../config/schema.ts';
import type { Grants } from '../grants/grants.ts';
import type { Job, JobDraft } from '../jobs/job.ts';
import type { Tool } from '../mcp/tool.ts';
import type { Admission } from '../slack/admission.ts';
import type { KnownProjects } from '../slack/known-projects.ts';
import type { ResponseUrls } from '../slack/response-url.ts';
import type { SlackApi } from '../slack/slack-api.ts';
import type { Mutes } from '../timesheets/mutes.ts';
import type { JobsOfPerson } from './jobs-of-person.ts';
import type { RecentCommands } from './recent-commands.ts';

/** Everything that is needed to answer people's requests before they become jobs. */
export interface SlackIntake {
  config: RelayConfig;
  settings: SlackConfig;
  /** A client with a time-out that fits into Slack's three seconds. */
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
  /** Lets the jobs go on that wait until the person has linked an account, wherever they were asked for. */
  goOn(userId: string, connection: string): Promise<void>;
  /** The tool that a form was made for, by the job that made it. */
  toolOfForm(madeBy: string): Promise<Tool | null>;
  /** Continues a parked job of the person. @returns false if it changed in the meantime */
  tryAgain(job: Job, userId: string): Promise<boolean>;
  budgetOf(connection: string): Promise<BudgetView>;
  /** True if the table has a user of the service for the person. */
  isKnown(userId: string, connection: string): Promise<boolean>;
  /**
   * Stores and queues a person's job, unless too many of their jobs have not ended.
   * @param request the person, and the `trigger_id` or the form of their request
   */
  accept(draft: JobDraft, request: { userId: string; happened: string }): Promise<Accepted>;
}

/**
 * The result of accepting a job. `safe`: it is stored, and the person may be told so. `before`: the same event was
 * accepted earlier with another input, which stays.
 */
export type Accepted = 'safe' | 'before' | 'too many';

/** The connection for a channel's commands. */
export function connectionOf({ settings }: SlackIntake, channelId: string): string {
  return settings.channels[channelId]?.connection ?? settings.connection;
}
