import { keys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';

/**
 * What an issue has become in the service, and the newest that is known of the issue. It outlives the jobs: as long as
 * there is a link, there is no second defect.
 */
export interface Link<State = unknown> {
  /** The newest state of the issue, by its version. */
  state?: State;
  /** `updated_at` of that state; ISO 8601, so that it sorts as text. */
  version?: string;
  /** The job that makes the defect, claimed before it is made. */
  claimedBy?: string;
  defectId?: string | number;
  /** Fingerprint of what the defect was last made to look like. */
  applied?: string;
  /** How often it was updated. */
  updates?: number;
  /** The link of the issue that this one was transferred to. */
  movedTo?: string;
}

/** The link records. Every write is one conditional update. */
export interface Links {
  get(entity: string): Promise<Link>;
  /** Keeps the state unless a newer one is known. Of two with the same version the one that came later is kept. */
  keepNewest(entity: string, version: string, state: unknown): Promise<void>;
  /** Claims the making of the defect. @returns the link, ours or another's */
  claim(entity: string, jobId: string, applied: string): Promise<Link>;
  /** Takes the claim over from a job that will never make the defect. */
  takeOver(entity: string, from: string, jobId: string, applied: string): Promise<Link>;
  setDefect(entity: string, defectId: string | number): Promise<void>;
  setApplied(entity: string, applied: string): Promise<void>;
  /**
   * Makes `to` the link of what `from` was, unless `to` has or makes a defect already.
   * @returns false while somebody is making the defect of `from`
   */
  move(from: string, to: string): Promise<boolean>;
}

export function createLinks(table: Table): Links {
  const get = async (entity: string): Promise<Link> => (await table.get(keys.link(entity))) ?? {};

  async function updateOrGet(entity: string, expression: string, values: Item, condition: string): Promise<Link> {
    const updated = await table.update(keys.link(entity), { expression, values }, { expression: condition });
    return updated ?? get(entity);
  }

  return {
    get,
    async keepNewest(entity, version, state) {
      await table.update(
        keys.link(entity),
        { expression: 'SET #state = :state, #version = :version', values: { state, version } },
        { expression: 'attribute_not_exists(#version) OR #version <= :version', values: { version } },
      );
    },
    claim: (entity, jobId, applied) =>
      updateOrGet(
        entity,
        'SET #claimedBy = :jobId, #applied = :applied',
        { jobId, applied },
        'attribute_not_exists(#claimedBy) AND attribute_not_exists(#defectId) AND attribute_not_exists(#movedTo)',
      ),
    takeOver: (entity, from, jobId, applied) =>
      updateOrGet(
        entity,
        'SET #claimedBy = :jobId, #applied = :applied',
        { jobId, applied, from },
        '#claimedBy = :from AND attribute_not_exists(#defectId)',
      ),
    async setDefect(entity, defectId) {
      await table.update(keys.link(entity), { expression: 'SET #defectId = :defectId', values: { defectId } });
    },
    async setApplied(entity, applied) {
      await table.update(keys.link(entity), {
        expression: 'SET #applied = :applied ADD #updates :one',
        values: { applied, one: 1 },
      });
    },
    async move(from, to) {
      const old = await get(from);
      if (old.defectId === undefined) {
        // Whoever comes for the old issue from now on is sent to the new one.
        const moved = await table.update(
          keys.link(from),
          { expression: 'SET #movedTo = :to', values: { to } },
          { expression: 'attribute_not_exists(#claimedBy)' },
        );
        return moved !== undefined;
      }
      await table.update(
        keys.link(to),
        {
          expression: 'SET #defectId = :defectId, #claimedBy = :claimedBy, #applied = :applied',
          values: { defectId: old.defectId, claimedBy: old.claimedBy, applied: old.applied ?? '' },
        },
        { expression: 'attribute_not_exists(#claimedBy) AND attribute_not_exists(#defectId)' },
      );
      await table.update(keys.link(from), { expression: 'SET #movedTo = :to', values: { to } });
      return true;
    },
  };
}
