import type { LinkNeeded } from '../grants/errors.ts';
import { RetryAt } from './interruption.ts';

const DAY_MS = 86_400_000;
/** Linking an account in Slack lets the waiting jobs of its person go on; this is for the case that it could not. */
const LOOKS_EVERY_MS = 30 * 60_000;

/** A job waits until the person who asked for it has linked their account. They are told why. */
export class LinkAwaited extends RetryAt {
  /** When it is given up; epoch milliseconds. */
  readonly until: number;
  readonly reason: LinkNeeded['reason'];
  /** What to ask for besides the scopes that were granted. */
  readonly scopes: readonly string[];

  /** @param since when the job began to wait */
  constructor(needed: LinkNeeded, since: number, now: number) {
    const until = since + DAY_MS;
    super(Math.min(now + LOOKS_EVERY_MS, until), needed.message, {
      releasesQueueGroup: true,
      waitsFor: 'person',
    });
    this.until = until;
    this.reason = needed.reason;
    this.scopes = needed.scopes;
  }
}
