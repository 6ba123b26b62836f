import { SealBroken } from '../../seal.ts';
import { setFields, type Table } from '../../state/table/table.ts';
import type { PendingLink } from '../grants/account-link.ts';
import type { Grants, NewGrant } from '../grants/grants.ts';
import type { Vault } from '../grants/vault.ts';
import {
  type Asker,
  codeOf,
  endOfStep,
  type GrantRequest,
  type GrantRequestItem,
  grantRequestKey,
  newTicket,
  printTicket,
  readTicket,
  secretOf,
} from './grant-request.ts';

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
