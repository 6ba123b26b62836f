import type { RelayConfig, RepositoryConfig } from '../config/schema.ts';
import type { Taken } from '../engine/line/accept-taken.ts';
import type { JobDraft } from '../engine/record/job.ts';
import type { JobKind } from '../engine/record/job-kind.ts';
import type { Links } from '../links/links.ts';
import type { Payload, TakenEvent } from '../platforms/github/payload.ts';
import type { JobInput } from '../triggers/trigger.ts';
import type { ItemsInput } from './complete-checklist-item/jobs.ts';
import type { RelateInput } from './relate/jobs.ts';

/** What an automation of ours decides by, besides the payload. */
export interface About {
  /** The repository of the event. */
  repository: RepositoryConfig;
  config: RelayConfig;
  /** Loads what reads texts. It takes a parser that a cold start should not load. */
  inTexts(): Promise<InTexts>;
  /** Where the state is kept that a job relies on. */
  links: Links;
  /** Whether a job was stored before. */
  isKnown(jobId: string): Promise<boolean>;
}

/** What reads the texts of our automations. */
export interface InTexts {
  mergedItems(payload: Payload<'pull_request'>, repository: RepositoryConfig): OurDrafts<ItemsInput>;
  relationsOfIssue(payload: Payload<'issues'>, about: About): OurDrafts<RelateInput>;
  relationsOfMerge(payload: Payload<'pull_request'>, about: About): OurDrafts<RelateInput>;
}

/** A job of an automation of ours. It says what a team's `Draft` says, and what the relay derives for a team. */
export interface OurDraft<Input>
  extends Pick<JobDraft, 'entity' | 'summary' | 'asked' | 'replyTo' | 'stranger' | 'startsAtOnce'> {
  happened: readonly (string | number)[];
  /** ISO 8601. */
  at?: string | null | undefined;
  /** The event makes one job for all time, also if the record of the job has expired. */
  isForGood?: true;
  input: Input;
  /** See accept-event.ts. @param id of the job */
  keepState?(id: string): Promise<number | undefined>;
}

/** Jobs, the reason why there are none, or undefined if the event is no business of the automation. */
export type OurDrafts<Input> = OurDraft<Input> | readonly OurDraft<Input>[] | string | undefined;

/** The `on` of an automation of ours for events of GitHub: as a team's, with the settings as a second argument of `job`. */
export interface OurGithubTrigger {
  event: TakenEvent;
  take(payload: never, about: About): Promise<Taken | undefined>;
}

/** Takes an event of the repositories in relay.config.ts. @param of the jobs that it makes */
export const onGithub = <Event extends TakenEvent, Input extends JobInput>(
  event: Event,
  of: JobKind<Input>,
  job: (payload: Payload<Event>, about: About) => OurDrafts<Input> | Promise<OurDrafts<Input>>,
): OurGithubTrigger => ({
  event,
  async take(payload, about) {
    const drafted = await job(payload, about);
    if (typeof drafted === 'string' || drafted === undefined) return drafted;
    const drafts: readonly OurDraft<Input>[] = [drafted].flat();
    if (drafts.length === 0) return undefined;
    return drafts.map(({ at, isForGood, keepState, ...given }) => {
      const draft = of.draft({ connection: about.repository.connection, lane: 'background', ...given });
      return { draft, at: at ? Date.parse(at) : undefined, isForGood, keepState: keepState?.bind(undefined, draft.id) };
    });
  },
});

/** The issue or pull request where a person requests a job on GitHub. The answer goes there too. */
export function issuePlace(
  { name, connection }: RepositoryConfig,
  fullName: string,
  issueNumber: number,
  installation: { id: number } | null | undefined,
): Pick<JobDraft, 'connection' | 'lane' | 'entity'> & Required<Pick<JobDraft, 'replyTo'>> {
  return {
    connection,
    lane: 'background',
    entity: `${fullName}#${issueNumber}`,
    replyTo: { in: 'github', repository: name, issueNumber, installationId: installation?.id },
  };
}
