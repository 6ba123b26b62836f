import type { DeathCause, Grant } from './grant.ts';

/** A person's call without a result. The subclass says what to do. */
export abstract class GrantError extends Error {}

/** Why a person has to link their account. */
type LinkReason = 'never linked' | 'other instance' | 'scope missing' | DeathCause;

/** The person has to link their account, possibly again. The call was not carried out. */
export class AccountNeeded extends GrantError {
  override readonly name = 'AccountNeeded';
  readonly reason: LinkReason;
  /** The id of the unusable grant; null if there is none. */
  readonly grantId: string | null;
  /** The scopes to request in addition to the granted ones. */
  readonly scopes: readonly string[];
  /** The message without the service's words, which may be about the person. */
  readonly inOwnWords: string;

  constructor(
    reason: LinkReason,
    grantId: string | null,
    { scopes = [] as readonly string[], said = null as string | null } = {},
  ) {
    const inOwnWords = `${inWords[reason]}${scopes.length > 0 ? ` (${scopes.join(', ')})` : ''}`;
    super(said ? `${inOwnWords}: ${said}` : inOwnWords);
    this.inOwnWords = inOwnWords;
    this.reason = reason;
    this.grantId = grantId;
    this.scopes = scopes;
  }
}

const inWords: Readonly<Record<LinkReason, string>> = {
  'never linked': 'no account is linked',
  'other instance': 'the account was linked on another instance of the service',
  'scope missing': 'the linked account does not allow this',
  refused: 'the service no longer accepts the linked account: it was revoked, or not used for 30 days',
  lost: 'Partner Relay could not renew the link, because the service twice gave no answer',
  expired: 'the link has expired, and the service does not renew it',
  'client forgotten': 'the service no longer knows Partner Relay',
  'not accepted':
    'the service refuses the linked account: you have withdrawn your consent, or the workspace does not allow it',
  'sealed with another key': 'the key that protected the link is gone',
};

/** Why a grant can no longer be used, in words for its holder. */
export const deathInWords = ({ cause }: NonNullable<Grant['death']>): string => inWords[cause];

/** Nothing was carried out. The same call may work later. */
export class TryLater extends GrantError {
  override readonly name = 'TryLater';
  /** Epoch milliseconds, if known. */
  readonly at: number | undefined;
  /** True if the service wants fewer calls, so nothing has failed. */
  readonly isForBudget: boolean;

  constructor(
    why: string,
    { at, isForBudget = false, cause }: { at?: number; isForBudget?: boolean; cause?: unknown } = {},
  ) {
    super(why, { cause });
    this.at = at;
    this.isForBudget = isForBudget;
  }
}

/** A creating call was sent, and may have been carried out. It must not be sent again. */
export class OutcomeUnknown extends GrantError {
  override readonly name = 'OutcomeUnknown';
}

/** The service refuses the request because of an unknown tool or wrong arguments. The person can correct it. */
export class CallRejected extends GrantError {
  override readonly name = 'CallRejected';
}

/** An operator has to fix the instance or the relay's configuration. */
export class InstanceTrouble extends GrantError {
  override readonly name = 'InstanceTrouble';
}
