import type { IssueToDefectConfig } from '../config/schema.ts';
import type { IssueState } from '../links/issue-state.ts';
import type { Link } from '../links/link-life.ts';
import type { ClaimFate } from './claim-fate.ts';
import { type DefectFields, defectFields, fieldsToSend, isDefect } from './defect-text.ts';

/** What a job of an issue would do with the state that its link has now: one call, or none. */
export type IssuePlan =
  | {
      does: 'create';
      fields: DefectFields;
      /** Set if the service is searched first, with an unknown number of calls. */
      searches?: true;
    }
  | { does: 'update'; defectId: string | number; fields: Partial<DefectFields> }
  | {
      does: 'nothing';
      /** `done` if the issue has a defect that looks like it, `under way` if another job makes its defect. */
      fate: 'done' | 'under way' | 'left';
      why: string;
    };

export interface PlanOptions {
  /** Of the issue's repository. */
  connection: string;
  settings: IssueToDefectConfig;
  /** What happened to the claim of a job. */
  fateOf: (jobId: string) => Promise<ClaimFate>;
}

/** Foresees what lib/automations/issue-to-defect.ts does with a link, without a call. */
export async function planIssue(
  link: Link<IssueState>,
  { connection, settings, fateOf }: PlanOptions,
): Promise<IssuePlan> {
  const { newest } = link;
  if (!newest) return nothing('what the issue looks like is not known');
  const create = (): IssuePlan => ({ does: 'create', fields: defectFields(newest.state, '', settings) });
  const isWanted = isDefect(newest.state.labels, settings);
  switch (link.life) {
    case 'moved':
      return nothing('the issue was transferred');
    case 'unclaimed':
      return isWanted ? create() : nothing(`the issue has no label ${settings.labels.join(' or ')}`);
    case 'made': {
      const { claim, defect } = link;
      if (claim.connection !== connection)
        return nothing(`its defect ${defect.id} is on the connection ${claim.connection}`);
      const all = defectFields(newest.state, claim.marker, settings);
      const fields = fieldsToSend(all, defect.applied, defect.updating?.fields ?? []);
      return Object.keys(fields).length > 0
        ? { does: 'update', defectId: defect.id, fields }
        : { does: 'nothing', fate: 'done', why: `defect ${defect.id} looks like the issue` };
    }
    case 'claimed': {
      const { by, marker } = link.claim;
      const fate = await fateOf(by);
      switch (fate.fate) {
        case 'under way':
          return { does: 'nothing', fate: 'under way', why: `${by} makes its defect` };
        case 'unknown':
          return nothing(`it is unknown whether ${by}, which is parked, created its defect; decide with relay resolve`);
        case 'made':
          return { does: 'update', defectId: fate.created.id, fields: defectFields(newest.state, marker, settings) };
        case 'nothing':
          return isWanted ? create() : nothing(`the issue has no label ${settings.labels.join(' or ')}`);
        case 'gone':
          return { does: 'create', fields: defectFields(newest.state, marker, settings), searches: true };
      }
    }
  }
}

const nothing = (why: string): IssuePlan => ({ does: 'nothing', fate: 'left', why });

/** The calls of several plans together. */
export interface PlannedCalls {
  created: number;
  updated: number;
  /** Issues that need no call. */
  unchanged: number;
  /** The calls of the service. */
  calls: number;
  /** Creations before which the service is searched, with up to 20 calls each that `calls` does not count. */
  searches: number;
}

export function summarizePlans(plans: readonly IssuePlan[]): PlannedCalls {
  const created = plans.filter(({ does }) => does === 'create').length;
  const updated = plans.filter(({ does }) => does === 'update').length;
  return {
    ...{ created, updated, unchanged: plans.length - created - updated, calls: created + updated },
    searches: plans.filter((plan) => plan.does === 'create' && plan.searches).length,
  };
}
