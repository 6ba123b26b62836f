import * as z from 'zod/mini';
import { storedTime } from '../state/table/unreadable-item.ts';
import { issueStateShape } from './issue-state.ts';

const string = z.string();
export const count = z.int().check(z.gte(0));
/** A digest of each field. */
const digests = z.record(string, string);

/**
 * The fields that decide what a job does. For example, a defect without a claim must not be read as no defect. Built on
 * first use, because few cold starts need it.
 */
export const lifeShape = z.lazy(() => {
  const doubt = {
    fields: z.array(string),
    /** Until then, the service may still carry out the request. Epoch milliseconds. */
    until: storedTime,
  };
  const claim = z.object({
    /** Id of the job that is creating or has created the defect. */
    by: string,
    /** The connection of the defect. */
    connection: string,
    /** The text by which a search finds the defect and the comment. It cannot be guessed. */
    marker: string,
    /**
     * Set if an earlier holder may have created a defect with this marker: a digest of each field that it sent, as far
     * as known. The service is then searched before anything is created under the claim, and the claim is not given up.
     */
    inherited: z.exactOptional(digests),
  });
  const defect = z.object({
    id: z.union([string, z.number()]),
    /** A digest of each value that the relay applied last. The value of a missing field is unknown. */
    applied: digests,
    /** How many updates have begun, not counting refused ones. */
    updates: count,
    /** When the last update was applied; epoch milliseconds. */
    updatedAt: z.exactOptional(storedTime),
    /** The newest update, until its answer. Until then, each of its fields may have the old or the new value. */
    updating: z.exactOptional(
      z.object({
        ...doubt,
        /** The run that sends the update. */
        by: string,
      }),
    ),
    /** The fields that an earlier unanswered update may still change. After `until`, they are applied again. */
    doubtful: z.exactOptional(z.object(doubt)),
  });
  const always = {
    /**
     * An issue that was transferred here, but whose claim or defect could not move: this issue has its own, or was
     * transferred to the other issue.
     */
    arrived: z.exactOptional(
      z.object({
        /** The link of that issue. */
        from: string,
        /** The job that is parked to ask a person. */
        toldBy: z.exactOptional(string),
      }),
    ),
    /** How often a person cleared the link, and when last. The number gives the next defect another marker. */
    cleared: z.exactOptional(z.object({ times: count, at: storedTime })),
    /**
     * Counts the writes of the link, so that each write is conditional on the state that was read. Missing before the
     * first write.
     */
    turn: z.exactOptional(count),
  };
  return z.discriminatedUnion('life', [
    z.object({ life: z.literal('unclaimed'), ...always }),
    /** A job is creating the defect. */
    z.object({ life: z.literal('claimed'), claim, ...always }),
    z.object({ life: z.literal('made'), claim, defect, ...always }),
    /** The issue was transferred, and its link's claim or defect moved with it. */
    z.object({ life: z.literal('moved'), to: z.object({ entity: string, name: string }), ...always }),
  ]);
});

export const newestShape = z.lazy(() =>
  z.object({
    state: issueStateShape,
    /** `owner/name#number` */
    name: string,
    /** The state's `updated_at`; ISO 8601, so that it sorts as text. */
    version: string,
    /** True if the issue should have a defect. */
    wanted: z.boolean(),
    /** The turn in which the state was stored. A state that appears again gets a new one. */
    revision: count,
    /** True if another state has the same version, and it is unknown which one is newer. */
    tied: z.boolean(),
    /**
     * Set if a tie cannot be settled because GitHub no longer has the issue, which was deleted or transferred. Neither
     * state then changes anything.
     */
    isGone: z.exactOptional(z.literal(true)),
  }),
);

type Life = z.output<typeof lifeShape>;

/** The claim and the defect of a link. */
export type Holding = Pick<Life & { life: 'made' }, 'claim' | 'defect'>;
export type Claim = Holding['claim'];
export type Defect = Holding['defect'];
export type Doubt = NonNullable<Defect['doubtful']>;
export type Update = NonNullable<Defect['updating']>;
export type Applied = Defect['applied'];
export type Arrived = NonNullable<Life['arrived']>;
/** An issue's link and its name, `owner/name#number`. */
export type IssueName = (Life & { life: 'moved' })['to'];

/** The newest state of the issue. */
export type NewestState = z.output<typeof newestShape>;

/** A readable link. */
export type Readable = Life & { newest?: NewestState };

/**
 * A link whose item is not as the relay writes it. Its newest state is kept up to date; everything else waits for a
 * person.
 */
interface UnreadableLink extends Pick<Readable, 'newest' | 'arrived' | 'cleared' | 'turn'> {
  life: 'unreadable';
  /** The attributes with impossible values. */
  wrong: readonly string[];
  item: Readonly<Record<string, unknown>>;
}

export type Link = Readable | UnreadableLink;

/** A state as an event reports it. */
export type ReportedState = Pick<NewestState, 'state' | 'name' | 'version' | 'wanted'>;
