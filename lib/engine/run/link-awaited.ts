import type { LinkNeeded } from '../../as-person/grants/errors.ts';
import { type AwaitedOf, LINK_WAIT_MS } from '../../as-person/grants/link-waits.ts';
import { digest } from '../../digest.ts';
import { RetryAt } from '../record/interruption.ts';

/** Linking an account in Slack lets the waiting jobs of its person go on; this is for the case that it could not. */
const LOOKS_EVERY_MS = 30 * 60_000;

export interface LinkAwaitedOptions extends AwaitedOf {
  /** When the job began to wait. Epoch milliseconds. */
  since: number;
  now: number;
  /** Whether the person has linked an account in the meantime. */
  isOver: () => Promise<boolean>;
}

/** A job waits until the person who asked for it has linked their account. They are told why. */
export class LinkAwaited extends RetryAt {
  /** Why, for the person: with the service's own words. */
  readonly told: string;
  readonly of: AwaitedOf;
  /** What is wrong with which link: the person is told once, however many jobs wait and however the service puts it. */
  readonly problem: string;
  readonly awaitedLink: { since: number; instead: string | null };
  /** What to ask for besides the scopes that were granted. */
  readonly scopes: readonly string[];
  readonly isOver: () => Promise<boolean>;

  constructor(needed: LinkNeeded, { since, now, isOver, connection, holder }: LinkAwaitedOptions) {
    super(Math.min(now + LOOKS_EVERY_MS, since + LINK_WAIT_MS), needed.inOwnWords, {
      releasesQueueGroup: true,
      waitsFor: 'person',
    });
    const { linkId, reason, scopes } = needed;
    this.told = needed.message;
    this.of = { connection, holder };
    // Two calls may find a grant dead for two reasons.
    this.problem = digest(reason === 'scope missing' ? [linkId ?? '', ...scopes] : [linkId ?? '']);
    this.awaitedLink = { since, instead: linkId };
    this.scopes = scopes;
    this.isOver = isOver;
  }
}
