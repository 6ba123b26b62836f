import { digest } from '../../digest.ts';
import { SealBroken } from '../../seal.ts';
import { type Key, keys } from '../../state/table/keys.ts';
import { setFields, type Table } from '../../state/table/table.ts';
import type { PendingLink } from '../grants/account-link.ts';
import type { Grant, Holder } from '../grants/grant.ts';
import type { Grants, NewGrant, PreparedGrant } from '../grants/grants.ts';
import type { Vault } from '../grants/vault.ts';

/** Who wants to link an account on which connection. */
export interface Asker {
  holder: Holder;
  connection: string;
}

/** What the browser is told about a requested link. */
interface GrantRequest extends Asker {
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
interface GrantRequestItem extends GrantRequest {
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

/** What a URL or a cookie contains: the person whose link it is, and a secret. */
interface Ticket extends Asker {
  secret: string;
}

const SECRET_BYTES = 32;

function newTicket({ holder, connection }: Asker, randomBytes: (size: number) => Uint8Array): Ticket {
  return { holder, connection, secret: Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url') };
}

/** `U0123ABCD.main.<secret>` */
const printTicket = ({ holder, connection, secret }: Ticket): string => `${holder.id}.${connection}.${secret}`;

/** @returns undefined if the text is not a ticket */
function readTicket(text: string): Ticket | undefined {
  const [, id, connection, secret] = /^([UW][A-Z0-9]{1,32})\.([a-z0-9-]{1,31})\.([\w-]{43})$/.exec(text) ?? [];
  if (id === undefined || connection === undefined || secret === undefined) return undefined;
  return { holder: { in: 'slack', id }, connection, secret };
}

const secretOf = ({ secret }: Ticket): string => digest(secret);

/** A code is short, so its digest would reveal it. Together with the secret it does not. */
const codeOf = (code: string, { secret }: Pick<GrantRequestItem, 'secret'>): string => digest([code, secret]);

/** The result of a code: a grant, a wrong code and how many tries are left, or no link that waits for a code. */
type Confirmation = { grant: Grant } | { triesLeft: number } | { nothing: true };

/** Out of a million codes. After this many wrong ones the link ends, and the next one needs another sign-in. */
const MOST_ATTEMPTS = 5;

/** Links as people request and confirm them in Slack. */
export function createGrantRequests(
  table: Table,
  grants: Pick<Grants, 'keep'>,
  clock: () => number,
  randomBytes: (size: number) => Uint8Array,
) {
  return {
    /**
     * Begins a link and ends an earlier one of the same person.
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
    /** Binds the account to the person who gives the code, if it is the code of their own link. */
    async confirm(asker: Asker, code: string): Promise<Confirmation> {
      // Counted before it is compared, so that simultaneous tries do not exceed the limit.
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
    /** Drops an unfinished link. */
    drop: async (asker: Asker): Promise<void> => void (await table.delete(grantRequestKey(asker))),
  };
}

/** A link that a browser has opened, with what was kept for its callback. */
interface OpenedLink extends GrantRequest {
  pending: PendingLink;
}

/** Links as browsers go through them. Tickets are text from outside. Each is valid for one step. */
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

  /** One step of a link: a second request finds another secret, or another step. */
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
    /** The link of a URL that was not opened yet. */
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
    /** The link of a browser's cookie, until the service has sent the browser back. */
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
     * @throws {SecretError} if there is no key to seal the grant with
     */
    async take(ticket: string): Promise<boolean> {
      await vault.readKey();
      return goOn(ticket, 'opened', { step: 'returned' }, ['sealed']);
    },
    /**
     * Keeps the grant until the person has confirmed it.
     * @returns the code, `482-913`, or undefined if the person has requested another link since
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

/** What the state and the PKCE verifier are sealed for. */
const sealedFor = ({ holder, connection }: Asker) => ['account link', connection, holder.in, holder.id.toLowerCase()];

/**
 * Six random digits. 48 bits are so many more than a million codes that the remainder does not noticeably favor any
 * code.
 */
function randomCode(randomBytes: (size: number) => Uint8Array): string {
  const number = Buffer.from(randomBytes(6)).readUIntBE(0, 6) % 1_000_000;
  const digits = String(number).padStart(6, '0');
  return `${digits.slice(0, 3)}-${digits.slice(3)}`;
}
