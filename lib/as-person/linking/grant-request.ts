import { digest } from '../../digest.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import type { Holder } from '../grants/grant.ts';
import type { PreparedGrant } from '../grants/grants.ts';

/** Who wants to link an account on which connection. */
export interface Asker {
  holder: Holder;
  connection: string;
}

/** What the browser is told about a requested link. */
export interface GrantRequest extends Asker {
  /** The person's name in Slack. */
  name: string;
  /** Where the service sends the browser back to. Its path ends with the connection. */
  redirectUri: string;
  /** What to ask the service for besides all that the relay can use. */
  scopes?: readonly string[] | undefined;
}

/**
 * - `asked`: a person pressed the button in Slack; the secret is in the URL that they got
 * - `opened`: a browser has opened it; the secret is in its cookie, and the URL is used up
 * - `returned`: the service has sent the browser back; the callback is used up
 * - `confirmable`: the browser shows a code, and the grant is sealed for the person who asked
 */
type LinkStep = 'asked' | 'opened' | 'returned' | 'confirmable';

/**
 * A link that is not confirmed yet. Each person has one for each connection, so that the newest counts, and a code is
 * compared only with that of the person who gives it.
 */
export interface GrantRequestItem extends GrantRequest {
  step: LinkStep;
  /** Digest of what the browser must show next. */
  secret: string;
  /** When this step ends; epoch milliseconds. */
  until: number;
  expiresAt: number;
  /** While `opened`: what is kept for the callback. */
  sealed?: Uint8Array;
  /** While `confirmable`. */
  grant?: PreparedGrant;
  code?: string;
  attempts?: number;
}

/** How long a URL is valid, and each step after it. */
export const STEP_MS = 10 * 60_000;

export const grantRequestKey = ({ holder, connection }: Asker): Key =>
  keys.accountLink(holder.in, holder.id, connection);

/** @returns when a step that begins now ends, for the relay and for the table */
export const endOfStep = (now: number) => ({
  until: now + STEP_MS,
  expiresAt: Math.ceil((now + STEP_MS) / 1000),
});

/** The content of a URL or a cookie: whose link it is, and a secret that only its holder knows. */
interface Ticket extends Asker {
  secret: string;
}

const SECRET_BYTES = 32;

export function newTicket({ holder, connection }: Asker, randomBytes: (size: number) => Uint8Array): Ticket {
  return { holder, connection, secret: Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url') };
}

/** `U0123ABCD.main.<secret>` */
export const printTicket = ({ holder, connection, secret }: Ticket): string => `${holder.id}.${connection}.${secret}`;

/** @returns undefined if the text is not a ticket */
export function readTicket(text: string): Ticket | undefined {
  const [, id, connection, secret] = /^([UW][A-Z0-9]{1,32})\.([a-z0-9-]{1,31})\.([\w-]{43})$/.exec(text) ?? [];
  if (id === undefined || connection === undefined || secret === undefined) return undefined;
  return { holder: { in: 'slack', id }, connection, secret };
}

export const secretOf = ({ secret }: Ticket): string => digest(secret);

/** A code is short, so its digest would reveal it. Together with the secret it does not. */
export const codeOf = (code: string, { secret }: Pick<GrantRequestItem, 'secret'>): string => digest([code, secret]);
