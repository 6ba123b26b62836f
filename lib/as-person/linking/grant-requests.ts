import type { Table } from '../../state/table/table.ts';
import type { Grant } from '../grants/grant.ts';
import type { Grants } from '../grants/grants.ts';
import {
  type Asker,
  codeOf,
  endOfStep,
  type GrantRequest,
  type GrantRequestItem,
  grantRequestKey,
  newTicket,
  printTicket,
  secretOf,
} from './grant-request.ts';

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
