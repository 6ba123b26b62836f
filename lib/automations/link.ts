import { expiry, isExpired } from '../table/expiry.ts';
import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/**
 * What an issue has become in the service, and the newest that is known of the issue. As soon as somebody claims to
 * make the defect, the link outlives all jobs: as long as there is a link, there is no second defect.
 */
export interface Link<State = unknown> {
  /** The newest state of the issue, by its version. */
  state?: State;
  /** `updated_at` of that state; ISO 8601, so that it sorts as text. */
  version?: string;
  /** The job that makes the defect, claimed before it is made. */
  claimedBy?: string;
  /** The connection on which it is made. */
  connection?: string;
  /** The text by which the defect and the comment are found again; nobody can guess it. */
  marker?: string;
  defectId?: string | number;
  /** Fingerprint of what the defect surely looks like; missing while an update is under way. */
  applied?: string;
  /** How often it was updated. */
  updates?: number;
  /** The link of the issue that this one was transferred to. */
  movedTo?: string;
}

/** The link records. Every write is one conditional update. */
export interface Links {
  get(entity: string): Promise<Link>;
  /**
   * Keeps the state unless a newer one is known. Of two with the same version the one that came later is kept. A link
   * that nobody claims expires like a job.
   */
  keepNewest(entity: string, version: string, state: unknown): Promise<void>;
  /** Claims the making of the defect. @returns the link, ours or another's */
  claim(entity: string, claim: { jobId: string; connection: string; marker: string }): Promise<Link>;
  /** Takes the claim over from a job that will never use it. @returns the link, ours or another's */
  takeOver(entity: string, from: string, jobId: string): Promise<Link>;
  /** @param applied what it surely looks like, if that is known */
  setDefect(entity: string, defectId: string | number, applied: string | undefined): Promise<void>;
  /** An update is about to be sent: until its answer, nobody knows what the defect looks like. */
  beginUpdate(entity: string): Promise<void>;
  setApplied(entity: string, applied: string): Promise<void>;
  /** Gives the defect to the link of the issue that the old one was transferred to, unless that has its own. */
  carryOver(old: Link, to: string): Promise<void>;
  /**
   * Sends whoever comes for the old issue from now on to the new one.
   * @returns false where somebody else than `maker` has claimed the defect of the old one meanwhile
   */
  leave(from: string, to: string, maker: string | undefined): Promise<boolean>;
}

export function createLinks(table: Table, clock: () => number): Links {
  async function get(entity: string): Promise<Link> {
    const item = await table.get(keys.link(entity));
    return item && !isExpired(item, clock()) ? (item as Link) : {};
  }

  const change = (entity: string, expression: string, values: Item = {}, condition?: string) =>
    table.update(keys.link(entity), { expression, values }, condition ? { expression: condition } : undefined);

  return {
    get,
    async keepNewest(entity, version, state) {
      const newer = '(attribute_not_exists(#version) OR #version <= :version)';
      const set = 'SET #state = :state, #version = :version';
      const { claimedBy, movedTo } = await get(entity);
      if (!claimedBy && !movedTo) {
        const values = { state, version, expiresAt: expiry(clock()) };
        const unclaimed = `${newer} AND attribute_not_exists(#claimedBy) AND attribute_not_exists(#movedTo)`;
        if (await change(entity, `${set}, #expiresAt = :expiresAt`, values, unclaimed)) return;
      }
      await change(entity, set, { state, version }, newer);
    },
    async claim(entity, { jobId, connection, marker }) {
      const claimed = await change(
        entity,
        'SET #claimedBy = :jobId, #connection = :connection, #marker = :marker REMOVE #expiresAt',
        { jobId, connection, marker },
        'attribute_not_exists(#claimedBy) AND attribute_not_exists(#movedTo)',
      );
      return claimed ?? get(entity);
    },
    async takeOver(entity, from, jobId) {
      const unmade = '#claimedBy = :from AND attribute_not_exists(#defectId)';
      return (await change(entity, 'SET #claimedBy = :jobId', { jobId, from }, unmade)) ?? get(entity);
    },
    async setDefect(entity, defectId, applied) {
      if (applied === undefined) await change(entity, 'SET #defectId = :defectId REMOVE #applied', { defectId });
      else await change(entity, 'SET #defectId = :defectId, #applied = :applied', { defectId, applied });
    },
    async beginUpdate(entity) {
      await change(entity, 'REMOVE #applied');
    },
    async setApplied(entity, applied) {
      await change(entity, 'SET #applied = :applied ADD #updates :one', { applied, one: 1 });
    },
    async carryOver({ defectId, claimedBy, connection, marker }, to) {
      await change(
        to,
        'SET #defectId = :defectId, #claimedBy = :claimedBy, #connection = :connection, #marker = :marker REMOVE #applied, #expiresAt',
        { defectId, claimedBy, connection, marker },
        'attribute_not_exists(#claimedBy)',
      );
    },
    async leave(from, to, maker) {
      const mine = maker === undefined ? 'attribute_not_exists(#claimedBy)' : '#claimedBy = :maker';
      const values = maker === undefined ? { to } : { to, maker };
      return (await change(from, 'SET #movedTo = :to REMOVE #expiresAt', values, mine)) !== undefined;
    },
  };
}
