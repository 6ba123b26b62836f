import { keys } from '../state/table/keys.ts';
import type { Table } from '../state/table/table.ts';
import type { RelationTarget } from '../target.ts';

export interface DefectName {
  connection: string;
  id: string | number;
}

/** The objects to which defects are linked. Their items never expire, so that no link is sent twice: decision 0038. */
export type Relations = ReturnType<typeof createRelations>;

export function createRelations(table: Table) {
  const keyOf = ({ connection, id }: DefectName, target: RelationTarget) =>
    keys.relation(connection, String(id), target.kind, String(target.id));

  return {
    /**
     * Claims a link before it is sent.
     * @param instead id of a job that ended without making the link
     * @returns id of the job that makes or has made the link, and whether it has
     */
    async claim(
      defect: DefectName,
      { kind, id }: RelationTarget,
      by: string,
      instead: string = by,
    ): Promise<{ by: string; isMade: boolean }> {
      const key = keyOf(defect, { kind, id });
      const condition = { expression: 'attribute_not_exists(#pk) OR #by = :instead', values: { instead } };
      if (await table.put({ ...key, kind, id, by }, condition)) return { by, isMade: false };
      const there = await table.get(key);
      return { by: String(there?.by ?? by), isMade: there?.isMade === true };
    },
    /** Records that the link is made, because the record of its job expires. */
    async make(defect: DefectName, { kind, id }: RelationTarget, by: string): Promise<void> {
      const condition = { expression: '#by = :by', values: { by } };
      await table.put({ ...keyOf(defect, { kind, id }), kind, id, by, isMade: true }, condition);
    },
    /** Gives up a claim after a refusal. */
    async release(defect: DefectName, target: RelationTarget, by: string): Promise<void> {
      await table.delete(keyOf(defect, target), { expression: '#by = :by', values: { by } });
    },
    /** Returns the objects to which the defect is or may be linked. */
    async of({ connection, id }: DefectName): Promise<{ kind: string; id: string }[]> {
      const items = await table.partition(keys.relation(connection, String(id), '', '').pk);
      return items.map((item) => ({ kind: String(item.kind), id: String(item.id) }));
    },
  };
}
