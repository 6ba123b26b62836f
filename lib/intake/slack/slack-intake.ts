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

/** Everything for answering people's requests before they become jobs. */
export interface SlackIntake {
  config: RelayConfig;
  settings: SlackConfig;
  /** A client with a time-out within Slack's three seconds. */
  slack: SlackApi;
  responseUrls: ResponseUrls;
  admission: Admission;
  verbs: Verbs;
  permissions: Permissions;
  /**
   * Checks whether a person may use a verb. Without a necessary answer from Slack, they may not.
   * @param permission null for verbs that everybody may use
   * @returns why they may not, in mrkdwn, or undefined
   */
  faultOf(permission: string | null, asked: AskedPermission): Promise<string | undefined>;
  clock: () => number;
  /** True while an operator has stopped the stage: requests are stored, but no job runs. */
  isStopped: boolean;
  projects: KnownProjects;
  tasks: Pick<KnownNames, 'get'>;
  /** Reads the person's earlier requests, for the turn of their command. */
  readTurns(userId: string): ReadTurns;
  /** Returns the newest jobs first. */
  lastJobs(userId: string): Promise<Job[]>;
  absences: Absences;
  /** Loads account linking on demand; undefined if no connection links accounts. */
  linking(): Promise<Linking | undefined>;
  viewConnection(connection: string): Promise<ConnectionView>;
  /** Returns true if the table has a user of the service for the person. */
  isKnown(userId: string, connection: string): Promise<boolean>;
  /** Stores for the answers to jobs' questions. */
  stores: Pick<Stores, 'table' | 'jobs' | 'queue' | 'secrets'> & Pick<Runtime, 'randomBytes'>;
  /** Stores and queues a person's job: accept-request.ts. */
  accept(draft: JobDraft, request: JobRequest): Promise<Accepted>;
}

/** The JSON answer to a Slack request; undefined for an empty answer. */
export type SlackAnswer = Readonly<Record<string, unknown>> | undefined;

/** Shown to people while an operator has stopped the stage. */
export const STOPPED = 'Your administrator has stopped Partner Relay. It does what you ask for when it runs again.';

/** Returns the connection for a channel's commands. */
export function connectionOf({ settings }: SlackIntake, channelId: string): string {
  return settings.channels[channelId]?.connection ?? settings.connection;
}
