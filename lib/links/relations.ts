import { keys } from '../state/table/keys.ts';
import type { Expression, Table } from '../state/table/table.ts';
import { type Target, targetKinds } from '../target.ts';

/** A defect of the service. */
export interface DefectName {
  connection: string;
  id: string | number;
}

/** A link of a defect that a job makes or has made. It never expires, so that nothing is sent twice. */
export interface Relation extends Target {
  /** The id of the job. */
  by: string;
}

/** What the defects are linked to: each relation is claimed before it is sent, by one job. */
export interface Relations {
  /** @returns the relation as it is then: by this job, or by the one that was first */
  claim(defect: DefectName, relation: Relation): Promise<Relation>;
  /** Takes the claim of a job that has ended without the link. @returns false if it is no longer that job's */
  takeOver(defect: DefectName, relation: Relation, from: string): Promise<boolean>;
  /** Gives up a claim after a refusal. */
  release(defect: DefectName, relation: Relation): Promise<void>;
  of(defect: DefectName): Promise<Relation[]>;
}

const UNLESS_THERE: Expression = { expression: 'attribute_not_exists(#pk)' };
const byJob = (by: string): Expression => ({ expression: '#by = :by', values: { by } });

export function createRelations(table: Table): Relations {
  const keyOf = ({ connection, id }: DefectName, target: Target) =>
    keys.relation(connection, String(id), target.kind, String(target.id));
  const itemOf = (defect: DefectName, { kind, id, by }: Relation) => ({ ...keyOf(defect, { kind, id }), kind, id, by });

  return {
    async claim(defect, relation) {
      for (;;) {
        if (await table.put(itemOf(defect, relation), UNLESS_THERE)) return relation;
        const there = await table.get(keyOf(defect, relation));
        if (there) return { ...relation, by: String(there.by) };
      }
    },
    takeOver: (defect, relation, from) => table.put(itemOf(defect, relation), byJob(from)),
    async release(defect, relation) {
      await table.delete(keyOf(defect, relation), byJob(relation.by));
    },
    async of({ connection, id }) {
      const items = await table.partition(keys.relation(connection, String(id), '', '').pk);
      return items.map((item) => {
        const kind = targetKinds.find((known) => known === item.kind) ?? 'task';
        const target = typeof item.id === 'number' ? item.id : String(item.id);
        return { kind, id: target, by: String(item.by) };
      });
    },
  };
}
