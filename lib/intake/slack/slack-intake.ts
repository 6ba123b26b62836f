import type { Linking } from '../../as-person/index.ts';
import type { AskedPermission, Permissions } from '../../automations/slack-permissions.ts';
import type { Verbs } from '../../automations/verbs.ts';
import type { RelayConfig, SlackConfig } from '../../config/schema.ts';
import type { Job, JobDraft } from '../../engine/record/job.ts';
import type { ReadTurns } from '../../people/turns.ts';
import type { KnownNames } from '../../platforms/slack/known-names.ts';
import type { KnownProjects } from '../../platforms/slack/known-projects.ts';
import type { Admission } from '../../platforms/slack/requests/admission.ts';
import type { ResponseUrls } from '../../platforms/slack/response-url.ts';
import type { SlackApi } from '../../platforms/slack/slack-api.ts';
import type { Runtime, Stores } from '../../runtime.ts';
import type { ConnectionView } from '../../service/connection/connection-view.ts';
import type { Absences } from '../../timesheets/absences.ts';
import type { Accepted, JobRequest } from './accept-request.ts';

/** Everything that is needed to answer people's requests before they become jobs. */
export interface SlackIntake {
  config: RelayConfig;
  settings: SlackConfig;
  /** A client with a time-out that fits into Slack's three seconds. */
  slack: SlackApi;
  responseUrls: ResponseUrls;
  admission: Admission;
  verbs: Verbs;
  permissions: Permissions;
  /**
   * Whether a person may use a verb. If Slack has to be asked and gives no answer, they may not.
   * @param permission null for what everybody may do
   * @returns why they may not, in mrkdwn, or undefined
   */
  faultOf(permission: string | null, asked: AskedPermission): Promise<string | undefined>;
  clock: () => number;
  /** While an operator has stopped the stage, what people ask for is kept, and nothing works on it. */
  isStopped: boolean;
  projects: KnownProjects;
  tasks: Pick<KnownNames, 'get'>;
  /** Reads what the person requested, for the turn of their command. */
  readTurns(userId: string): ReadTurns;
  /** The newest first. */
  lastJobs(userId: string): Promise<Job[]>;
  absences: Absences;
  /** Loaded on demand; undefined where no connection links accounts. */
  linking(): Promise<Linking | undefined>;
  viewConnection(connection: string): Promise<ConnectionView>;
  /** True if the table has a user of the service for the person. */
  isKnown(userId: string, connection: string): Promise<boolean>;
  /** Where answers to the questions of jobs are kept. */
  stores: Pick<Stores, 'table' | 'jobs' | 'queue' | 'secrets'> & Pick<Runtime, 'randomBytes'>;
  /** Stores and queues a person's job: accept-request.ts. */
  accept(draft: JobDraft, request: JobRequest): Promise<Accepted>;
}

/** The JSON that answers a request of Slack; undefined for an empty answer. */
export type SlackAnswer = Readonly<Record<string, unknown>> | undefined;

/** For people, while an operator has stopped the stage. */
export const STOPPED = 'Your administrator has stopped Partner Relay. It does what you ask for when it runs again.';

/** The connection for a channel's commands. */
export function connectionOf({ settings }: SlackIntake, channelId: string): string {
  return settings.channels[channelId]?.connection ?? settings.connection;
}
