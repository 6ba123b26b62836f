import type { CommandTrigger } from './command.ts';
import type { GithubTrigger } from './github.ts';
import type { ScheduleTrigger } from './schedule.ts';
import type { CommandSteps } from './steps.ts';
import type { JobInput } from './trigger.ts';
import type { WebhookTrigger } from './webhook.ts';

/** The `on` of a team's file. */
export type CustomTrigger =
  | (Omit<GithubTrigger<never, JobInput>, 'events'> & { events: readonly string[] })
  | CommandTrigger<JobInput>
  | ScheduleTrigger
  | WebhookTrigger<unknown, JobInput>;

/** The `run` of a team's file. */
export type CustomRun = (input: JobInput, steps: CommandSteps) => Promise<string>;

/** A file as the functions know it before they load its code: its name, and its trigger as data. */
export type CustomAutomation = { name: string } & (
  | Pick<CustomTrigger & { kind: 'github' }, 'kind' | 'events' | 'by'>
  | Pick<CustomTrigger & { kind: 'command' }, 'kind' | 'usage' | 'does' | 'example' | 'permission' | 'inComments'>
  | Pick<CustomTrigger & { kind: 'schedule' }, 'kind' | 'cron' | 'timeZone' | 'connection'>
  | Pick<CustomTrigger & { kind: 'webhook' }, 'kind' | 'verify' | 'challenge' | 'connection'>
);

export type CustomOf<Kind extends CustomAutomation['kind']> = CustomAutomation & { kind: Kind };

/**
 * The custom automations, from the folder `automations/`. For Lambda, the build creates this object; on one machine,
 * the start does.
 */
export interface CustomAutomations {
  list: readonly CustomAutomation[];
  /** Loads the part of an automation that webhooks need. */
  on(name: string): Promise<CustomTrigger>;
  /** Loads the steps of an automation, in a worker only. */
  run(name: string): Promise<CustomRun>;
  /**
   * Set to show the messages of a file's errors. On AWS they stay hidden, because they may contain parts of a payload.
   */
  showsErrors?: true;
}

/** No custom automations; the default for unbundled functions. */
const none: CustomAutomations = {
  list: [],
  on: (name) => Promise.reject(new Error(`there is no automation '${name}'`)),
  run: (name) => Promise.reject(new Error(`there is no automation '${name}'`)),
};
export default none;

/** The automations with that kind of trigger. */
export const customOf = <Kind extends CustomAutomation['kind']>(
  { list }: CustomAutomations,
  kind: Kind,
): CustomOf<Kind>[] => list.filter((one): one is CustomOf<Kind> => one.kind === kind);
