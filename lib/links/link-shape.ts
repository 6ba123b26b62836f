import * as z from 'zod/mini';
import { storedTime } from '../state/table/unreadable-item.ts';
import { issueStateShape } from './issue-state.ts';

const string = z.string();
export const count = z.int().check(z.gte(0));
/** A digest of each field. */
const digests = z.record(string, string);

/**
 * Everything that a job decides from. A defect without a claim, for example, must not be read as no defect. Made on
 * first use, because few cold starts need it.
 */
export const lifeShape = z.lazy(() => {
  const doubt = {
    fields: z.array(string),
    /** Until then, the service may carry out what was sent. Epoch milliseconds. */
    until: storedTime,
  };
  const claim = z.object({
    /** Id of the job that is creating or has created the defect. */
    by: string,
    /** The connection of the defect. */
    connection: string,
    /** The text that identifies the defect and the comment in a search. It cannot be guessed. */
    marker: string,
    /**
     * Set if an earlier holder may have created a defect with this marker: what it sent of each field, as far as known.
     * The service is searched before anything is created under the claim, so the claim is not given up either.
     */
    inherited: z.exactOptional(digests),
  });
  const defect = z.object({
    id: z.union([string, z.number()]),
    /** The values that the relay applied last. The value of a field that is missing is unknown. */
    applied: digests,
    /** How many updates have begun, except those that were refused. */
    updates: count,
    /** When the last update was applied; epoch milliseconds. */
    updatedAt: z.exactOptional(storedTime),
    /** The update that began last, until its answer. Until then, each of its fields may have the old or the new value. */
    updating: z.exactOptional(
      z.object({
        ...doubt,
        /** The run of the job that sends it. */
        by: string,
      }),
    ),
    /** What an earlier update without an answer may still change. Once that is over, these fields are applied once more. */
    doubtful: z.exactOptional(z.object(doubt)),
  });
  const always = {
    /** An issue that was transferred here and could not move: this issue has a claim or a defect, or was transferred to it. */
    arrived: z.exactOptional(
      z.object({
        /** The link of that issue. */
        from: string,
        /** The job that is parked, so that a person decides. */
        toldBy: z.exactOptional(string),
      }),
    ),
    /** How often a person cleared the link, so that the next defect has another marker, and when last. */
    cleared: z.exactOptional(z.object({ times: count, at: storedTime })),
    /** Counts the writes of the link, so that each write is conditional on what was read. Missing before the first write. */
    turn: z.exactOptional(count),
  };
  return z.discriminatedUnion('life', [
    z.object({ life: z.literal('unclaimed'), ...always }),
    /** A job is creating the defect. */
    z.object({ life: z.literal('claimed'), claim, ...always }),
    z.object({ life: z.literal('made'), claim, defect, ...always }),
    /** The issue was transferred, and everything that its link had moved with it. */
    z.object({ life: z.literal('moved'), to: z.object({ entity: string, name: string }), ...always }),
  ]);
});

export const newestShape = z.lazy(() =>
  z.object({
    state: issueStateShape,
    /** `owner/name#number` */
    name: string,
    /** `updated_at` of the state; ISO 8601, so that it sorts as text. */
    version: string,
    /** True if the issue should have a defect. */
    wanted: z.boolean(),
    /** The turn in which the state was stored. A state that returns gets a new one. */
    revision: count,
    /** Another state has the same version, and it is unknown which one is newer. */
    tied: z.boolean(),
    /** The same, and GitHub no longer has the issue, which was deleted or transferred: then neither changes anything. */
    isGone: z.exactOptional(z.literal(true)),
  }),
);

type Life = z.output<typeof lifeShape>;

/** What a link has besides the state of its issue. */
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

/** A link that can be read. */
export type Readable = Life & { newest?: NewestState };

/** What is stored is not as the relay writes it. Its newest state is kept up to date; all else waits for a person. */
interface UnreadableLink extends Pick<Readable, 'newest' | 'arrived' | 'cleared' | 'turn'> {
  life: 'unreadable';
  /** The attributes with values that the relay never writes. */
  wrong: readonly string[];
  item: Readonly<Record<string, unknown>>;
}

export type Link = Readable | UnreadableLink;

/** A state as an event reports it. */
export type ReportedState = Pick<NewestState, 'state' | 'name' | 'version' | 'wanted'>;
