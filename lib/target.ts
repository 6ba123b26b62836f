/** The kinds of objects to which a defect can be linked (docs/partner-api.md#operations). */
export const targetKinds = ['task', 'test case', 'test step'] as const;
export type TargetKind = (typeof targetKinds)[number];

export interface RelationTarget {
  kind: TargetKind;
  id: string | number;
}
