import type { RelayConfig, RepositoryConfig } from '../config/schema.ts';
import type { Taken } from '../engine/line/accept-taken.ts';
import type { JobDraft } from '../engine/record/job.ts';
import type { JobKind } from '../engine/record/job-kind.ts';
import type { Links } from '../links/links.ts';
import type { Payload, TakenEvent } from '../platforms/github/payload.ts';
import type { JobInput } from '../triggers/trigger.ts';
import type { ItemsInput } from './complete-checklist-item/jobs.ts';
import type { RelateInput } from './relate/jobs.ts';

/** The context in which a built-in automation decides, besides the payload. */
export interface About {
  repository: RepositoryConfig;
  config: RelayConfig;
  /** Loads the code that reads texts. Its parser would slow down a cold start. */
  inTexts(): Promise<InTexts>;
  /** The links, which keep the state of issues. */
  links: Links;
  /** Returns true if the job was stored before. */
  isKnown(jobId: string): Promise<boolean>;
}

/** The functions that read texts. */
export interface InTexts {
  mergedItems(payload: Payload<'pull_request'>, repository: RepositoryConfig): OurDrafts<ItemsInput>;
  relationsOfIssue(payload: Payload<'issues'>, about: About): OurDrafts<RelateInput>;
  relationsOfMerge(payload: Payload<'pull_request'>, about: About): OurDrafts<RelateInput>;
}

/** A job of a built-in automation: a team's `Draft`, and the fields that the relay derives for a team. */
export interface OurDraft<Input>
  extends Pick<JobDraft, 'entity' | 'summary' | 'asked' | 'replyTo' | 'stranger' | 'startsAtOnce'> {
  happened: readonly (string | number)[];
  /** ISO 8601. */
  at?: string | null | undefined;
  /** True if the event makes only one job ever, even after the job's record has expired. */
  isForGood?: true;
  input: Input;
  /** Keeps the state that the job relies on: see accept-event.ts. @param id the id of the job */
  keepState?(id: string): Promise<number | undefined>;
}

/** Jobs, the reason why there are none, or undefined if the event does not concern the automation. */
export type OurDrafts<Input> = OurDraft<Input> | readonly OurDraft<Input>[] | string | undefined;

/**
 * The `on` of a built-in automation for GitHub events: like a team's, with the settings as the second argument of
 * `job`.
 */
export interface OurGithubTrigger {
  event: TakenEvent;
  take(payload: Payload<TakenEvent>, about: About): Promise<Taken | undefined>;
}

/** Creates a trigger for events of the repositories in relay.config.ts. @param of the kind of its jobs */
export const onGithub = <Event extends TakenEvent, Input extends JobInput>(
  event: Event,
  of: JobKind<Input>,
  job: (payload: Payload<Event>, about: About) => OurDrafts<Input> | Promise<OurDrafts<Input>>,
): OurGithubTrigger => ({
  event,
  async take(payload, about) {
    const drafted = await job(payload as Payload<Event>, about);
    if (typeof drafted === 'string' || drafted === undefined) return drafted;
    const drafts: readonly OurDraft<Input>[] = [drafted].flat();
    if (drafts.length === 0) return undefined;
    return drafts.map(({ at, isForGood, keepState, ...given }) => {
      const draft = of.draft({ connection: about.repository.connection, lane: 'background', ...given });
      return { draft, at: at ? Date.parse(at) : undefined, isForGood, keepState: keepState?.bind(undefined, draft.id) };
    });
  },
});

/** The issue or pull request where a person requests a job. The answer is posted there, too. */
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
