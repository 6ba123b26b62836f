import type { JobDraft } from '../engine/record/job.ts';
import type { JobKind } from '../engine/record/job-kind.ts';
import type { Payload, TakenEvent } from '../platforms/github/payload.ts';
import type { JobInput } from '../triggers/trigger.ts';
import type { BeforeStoring, OurDraft, OurDrafts, Settings } from './github-draft.ts';

/** What a delivery leads to: jobs, or the reason why there are none. */
export type Taken =
  | {
      jobs: JobDraft[];
      /** When it happened, in epoch milliseconds; undefined if the payload does not say. */
      happenedAt: number | undefined;
      /** The event makes one job for all time, also if the record of the job has expired. */
      isForGood?: true | undefined;
      beforeStoring?: BeforeStoring | undefined;
    }
  | { ignored: string };

/** What an automation of ours decides by. */
export interface About extends Settings {
  /** Loads what reads texts. It takes a parser that a cold start should not load. */
  inTexts(): Promise<InTexts>;
}

/** What reads the texts of our automations. */
export interface InTexts {
  mergedItems: typeof import('./complete-checklist-item/merged-items.ts').mergedItems;
  relationsOfIssue: typeof import('./relate/written-lines.ts').relationsOfIssue;
  relationsOfMerge: typeof import('./relate/written-lines.ts').relationsOfMerge;
}

/** The `on` of an automation of ours for events of GitHub: as a team's, with the settings as a second argument of `job`. */
export interface OurGithubTrigger {
  kind: 'github';
  event: TakenEvent;
  take(payload: never, about: About): Promise<Taken | undefined>;
}

/** Takes an event of the repositories in relay.config.ts. @param of the jobs that it makes */
export const onGithub = <Event extends TakenEvent, Input extends JobInput>(
  event: Event,
  of: JobKind<Input>,
  job: (payload: Payload<Event>, about: About) => OurDrafts<Input> | Promise<OurDrafts<Input>>,
): OurGithubTrigger => ({
  kind: 'github',
  event,
  async take(payload, about) {
    const drafted = await job(payload, about);
    if (typeof drafted === 'string') return { ignored: drafted };
    const drafts = drafted === undefined ? [] : ([drafted].flat() as readonly OurDraft<Input>[]);
    const [first] = drafts;
    if (!first) return undefined;
    const { connection } = about.repository;
    const jobs = drafts.map(({ at, isForGood, beforeStoring, ...draft }) =>
      of.draft({ connection, lane: 'background', ...draft }),
    );
    return {
      jobs,
      isForGood: first.isForGood,
      happenedAt: first.at ? Date.parse(first.at) : undefined,
      beforeStoring: first.beforeStoring?.bind(undefined, jobs[0]?.id ?? ''),
    };
  },
});
