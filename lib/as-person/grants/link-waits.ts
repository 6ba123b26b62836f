import { expiry } from '../../state/table/expiry.ts';
import { keys } from '../../state/table/keys.ts';
import type { Table } from '../../state/table/table.ts';
import type { Holder } from './grant.ts';

/** How long a job waits for its person to link an account. */
export const LINK_WAIT_MS = 86_400_000;
/** If a job has not sent the message by then, it was interrupted, and another job may send it. */
const TELLING_MS = 10 * 60_000;

/** The person and the connection of the awaited link. */
export interface AwaitedOf {
  connection: string;
  holder: Holder;
}

/** The jobs that wait until a person has linked an account, wherever they were requested. */
export interface LinkWaits {
  /** Called before the job waits. The job checks once more after it, so that no link is missed. */
  note(of: AwaitedOf, jobId: string): Promise<void>;
  /**
   * Takes the right to tell the person what is wrong. One job has it for each `problem`, however many wait for the link.
   * A day later the person may be told again.
   */
  claimTelling(of: AwaitedOf, problem: string, jobId: string): Promise<boolean>;
  noteTold(of: AwaitedOf, problem: string, jobId: string): Promise<void>;
  /** @returns the waiting jobs, which the caller continues */
  end(of: AwaitedOf): Promise<string[]>;
}

export function createLinkWaits(table: Table, clock: () => number): LinkWaits {
  const keyOf = ({ connection, holder }: AwaitedOf, what: string) =>
    keys.linkWait(holder.in, holder.id, connection, what);
  const telling = (of: AwaitedOf, problem: string, jobId: string, isTold: boolean) => {
    const now = clock();
    return { ...keyOf(of, `told#${problem}`), jobId, isTold, at: now, expiresAt: expiry(now, LINK_WAIT_MS) };
  };

  return {
    async note(of, jobId) {
      await table.put({ ...keyOf(of, `job#${jobId}`), jobId, expiresAt: expiry(clock(), 2 * LINK_WAIT_MS) });
    },
    async claimTelling(of, problem, jobId) {
      const now = clock();
      return table.put(telling(of, problem, jobId, false), {
        expression:
          'attribute_not_exists(#pk) OR #expiresAt <= :seconds OR (#isTold = :no AND (#jobId = :jobId OR #at <= :before))',
        values: { jobId, seconds: expiry(now, 0), no: false, before: now - TELLING_MS },
      });
    },
    async noteTold(of, problem, jobId) {
      await table.put(telling(of, problem, jobId, true));
    },
    async end(of) {
      const items = await table.partition(keyOf(of, '').pk);
      // Before they go on: a job that then waits for the next link notes that again.
      await Promise.all(items.map(({ pk, sk }) => table.delete({ pk: String(pk), sk: String(sk) })));
      return items.flatMap(({ sk, jobId }) => (String(sk).startsWith('job#') ? [String(jobId)] : []));
    },
  };
}
