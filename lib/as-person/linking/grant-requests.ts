import { digest } from '../../digest.ts';
import { SealBroken } from '../../seal.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import { setFields, type Table } from '../../state/table/table.ts';
import type { PendingLink } from '../grants/account-link.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import type { Grants, NewGrant, PreparedGrant } from '../grants/grants.ts';
import type { Vault } from '../grants/vault.ts';

/** The person who links an account, and the connection. */
export interface Asker {
  holder: Holder;
  connection: string;
}

/** A requested link, as shown in the browser. */
interface GrantRequest extends Asker {
  /** The person's name in Slack. */
  name: string;
  /** The address to which the service sends the browser back. Its path ends with the connection. */
  redirectUri: string;
  /** Scopes to request in addition to all that the relay can use. */
  scopes?: readonly string[] | undefined;
}

/**
 * - `asked`: a person pressed the button in Slack, and their URL contains the secret
 * - `opened`: a browser has opened the URL, which is used up; the secret is in the browser's cookie
 * - `returned`: the service has sent the browser back; the callback is used up
 * - `confirmable`: the browser shows a code, and the grant is sealed for the person who requested the link
 */
type LinkStep = 'asked' | 'opened' | 'returned' | 'confirmable';

/**
 * An unconfirmed link. Each person has only one for each connection: the newest link counts, and a code is compared
 * only with the link of the person who types it.
 */
interface GrantRequestItem extends GrantRequest {
  step: LinkStep;
  /** The digest of the text that the browser must send next. */
  secret: string;
  /** The end of this step; epoch milliseconds. */
  until: number;
  expiresAt: number;
  /** Set while `opened`: the sealed state for the callback. */
  sealed?: Uint8Array;
  /** Set while `confirmable`. */
  grant?: PreparedGrant;
  code?: string;
  attempts?: number;
}

/** How long a URL, and each later step, is valid. */
export const STEP_MS = 10 * 60_000;

export const grantRequestKey = ({ holder, connection }: Asker): Key =>
  keys.accountLink(holder.in, holder.id, connection);

/** @returns the end of a step that begins now, for the relay and for the table */
export const endOfStep = (now: number) => ({
  until: now + STEP_MS,
  expiresAt: Math.ceil((now + STEP_MS) / 1000),
});

/** The content of a URL or cookie: the link's owner and a secret. */
interface Ticket extends Asker {
  secret: string;
}

const SECRET_BYTES = 32;

function newTicket({ holder, connection }: Asker, randomBytes: (size: number) => Uint8Array): Ticket {
  return { holder, connection, secret: Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url') };
}

/** Returns a text of the form `U0123ABCD.main.<secret>`. */
const printTicket = ({ holder, connection, secret }: Ticket): string => `${holder.id}.${connection}.${secret}`;

/** @returns undefined if the text is not a ticket */
function readTicket(text: string): Ticket | undefined {
  const [, id, connection, secret] = /^([UW][A-Z0-9]{1,32})\.([a-z0-9-]{1,31})\.([\w-]{43})$/.exec(text) ?? [];
  if (id === undefined || connection === undefined || secret === undefined) return undefined;
  return { holder: { in: 'slack', id }, connection, secret };
}

const secretOf = ({ secret }: Ticket): string => digest(secret);

/** The digest of a code alone would reveal it, because codes are short. The secret prevents that. */
const codeOf = (code: string, { secret }: Pick<GrantRequestItem, 'secret'>): string => digest([code, secret]);

/**
 * The result of a typed code: a grant, the tries that are left after a wrong code, or no link that waits for a code.
 */
type Confirmation = { grant: Grant } | { triesLeft: number } | { nothing: true };

/** After this many wrong codes, out of a million, the link ends, and the next one needs another sign-in. */
const MOST_ATTEMPTS = 5;

/** The steps of a link in Slack: a person requests and confirms it. */
export function createGrantRequests(
  table: Table,
  grants: Pick<Grants, 'keep'>,
  clock: () => number,
  randomBytes: (size: number) => Uint8Array,
) {
  return {
    /**
     * Begins a link, and ends the person's earlier one.
     * @returns the ticket for the URL
     */
    async begin(request: GrantRequest): Promise<string> {
      const ticket = newTicket(request, randomBytes);
      const item = {
        ...request,
        step: 'asked',
        secret: secretOf(ticket),
        ...endOfStep(clock()),
      } satisfies GrantRequestItem;
      await table.put({ ...grantRequestKey(request), ...item });
      return printTicket(ticket);
    },
    /** Binds the account to the person, if they type the code of their own link. */
    async confirm(asker: Asker, code: string): Promise<Confirmation> {
      // The try is counted before the comparison, so that simultaneous tries cannot exceed the limit.
      const tried = (await table.update(
        grantRequestKey(asker),
        { expression: 'SET #attempts = #attempts + :one', values: { one: 1 } },
        {
          expression: '#step = :confirmable AND #attempts < :most AND #until > :now',
          values: { confirmable: 'confirmable', most: MOST_ATTEMPTS, now: clock() },
        },
      )) as GrantRequestItem | undefined;
      if (!tried?.grant) return { nothing: true };
      const { grant: prepared, secret, attempts = MOST_ATTEMPTS } = tried;
      const over = { expression: '#secret = :secret', values: { secret } };
      if (tried.code !== codeOf(code, tried)) {
        if (attempts >= MOST_ATTEMPTS) await table.delete(grantRequestKey(asker), over);
        return { triesLeft: MOST_ATTEMPTS - attempts };
      }
      const grant = await grants.keep(prepared);
      await table.delete(grantRequestKey(asker), over);
      return grant ? { grant } : { nothing: true };
    },
    /** Deletes an unfinished link. */
    drop: async (asker: Asker): Promise<void> => void (await table.delete(grantRequestKey(asker))),
  };
}

/** A link that a browser has opened, with its state for the callback. */
interface OpenedLink extends GrantRequest {
  pending: PendingLink;
}

/** The steps of a link in the browser. Tickets are text from outside. Each is valid for one step. */
export type OpenedRequests = ReturnType<typeof createOpenedRequests>;

interface OpenedRequestsOptions {
  table: Table;
  vault: Vault;
  grants: Pick<Grants, 'prepare'>;
  clock: () => number;
  randomBytes: (size: number) => Uint8Array;
}

export function createOpenedRequests({ table, vault, grants, clock, randomBytes }: OpenedRequestsOptions) {
  async function find(text: string, step: GrantRequestItem['step']): Promise<GrantRequestItem | undefined> {
    const ticket = readTicket(text);
    if (!ticket) return undefined;
    const item = (await table.get(grantRequestKey(ticket))) as GrantRequestItem | undefined;
    const isIt = item?.step === step && item.secret === secretOf(ticket) && item.until > clock();
    return isIt ? item : undefined;
  }

  /** Moves a link to its next step. A second request fails, because the secret or the step has changed. */
  async function goOn(
    text: string,
    from: GrantRequestItem['step'],
    to: Partial<GrantRequestItem>,
    remove: string[] = [],
  ): Promise<boolean> {
    const ticket = readTicket(text);
    if (!ticket) return false;
    const changed = await table.update(grantRequestKey(ticket), setFields({ ...to }, remove), {
      expression: '#step = :from AND #secret = :was AND #until > :now',
      values: { from, was: secretOf(ticket), now: clock() },
    });
    return changed !== undefined;
  }

  return {
    /** Returns the link of an unopened URL. */
    asked: (ticket: string): Promise<GrantRequest | undefined> => find(ticket, 'asked'),
    /**
     * Binds the link to the browser that opens it, and uses up the URL.
     * @returns the ticket for the browser's cookie, or undefined if another browser was first
     */
    async open(text: string, pending: PendingLink): Promise<string | undefined> {
      const ticket = readTicket(text);
      if (!ticket) return undefined;
      const next = newTicket(ticket, randomBytes);
      const sealed = await vault.seal(JSON.stringify(pending), sealedFor(ticket));
      const to = { step: 'opened', secret: secretOf(next), sealed, ...endOfStep(clock()) } as const;
      return (await goOn(text, 'asked', to)) ? printTicket(next) : undefined;
    },
    /** Returns the link of a browser's cookie, until the service has sent the browser back. */
    async opened(ticket: string): Promise<OpenedLink | undefined> {
      const item = await find(ticket, 'opened');
      if (!item?.sealed) return undefined;
      try {
        return { ...item, pending: JSON.parse(await vault.unseal(item.sealed, sealedFor(item))) };
      } catch (error) {
        if (error instanceof SealBroken) return undefined;
        throw error;
      }
    },
    /**
     * Uses up the callback.
     * @returns false if another request was first
     * @throws {SecretError} without a key to seal the grant
     */
    async take(ticket: string): Promise<boolean> {
      await vault.readKey();
      return goOn(ticket, 'opened', { step: 'returned' }, ['sealed']);
    },
    /**
     * Stores the grant until the person has confirmed it.
     * @returns the code, such as `482-913`, or undefined if the person has requested another link since
     */
    async finish(text: string, newGrant: NewGrant): Promise<string | undefined> {
      const ticket = readTicket(text);
      if (!ticket) return undefined;
      const code = randomCode(randomBytes);
      const to = {
        step: 'confirmable',
        grant: await grants.prepare(ticket.holder, newGrant),
        code: codeOf(code, { secret: secretOf(ticket) }),
        attempts: 0,
        ...endOfStep(clock()),
      } as const;
      return (await goOn(text, 'returned', to)) ? code : undefined;
    },
  };
}

/** The associated data for sealing the state and the PKCE verifier. */
const sealedFor = ({ holder, connection }: Asker) => ['account link', connection, holder.in, holder.id.toLowerCase()];

/**
 * Returns six random digits. They are the remainder of a 48-bit random number, which is so much larger than a million
 * that all codes are practically equally likely.
 */
function randomCode(randomBytes: (size: number) => Uint8Array): string {
  const number = Buffer.from(randomBytes(6)).readUIntBE(0, 6) % 1_000_000;
  const digits = String(number).padStart(6, '0');
  return `${digits.slice(0, 3)}-${digits.slice(3)}`;
}
