import type { ClaimFate } from '../automations/issue-to-defect/claim-fate.ts';
import { type DefectFields, defectFields } from '../automations/issue-to-defect/defect-text.ts';
import {
  decideClaim,
  decideCreation,
  decideUpdate,
  type IssueView,
  looksAlike,
} from '../automations/issue-to-defect/issue-decisions.ts';
import { type Link, make, type NewestState } from '../links/link-life.ts';

/** The plan of an issue's job, from the current state of the link: one call, or none. */
export type IssuePlan =
  | {
      does: 'create';
      fields: DefectFields;
      /** Set if the service is searched first, with an unknown number of calls. */
      searches?: true;
    }
  | { does: 'update'; defectId: string | number; fields: Partial<DefectFields> }
  | { does: 'nothing'; why: string };

/**
 * Predicts what a job does with a link. Makes no calls.
 * @param fateOf returns what happened to a job's claim
 */
export async function planIssue(
  link: Link,
  view: IssueView,
  fateOf: (jobId: string) => Promise<ClaimFate>,
): Promise<IssuePlan> {
  if (link.life === 'unreadable') return nothing(`its link cannot be read: ${link.wrong.join(', ')}`);
  const { newest } = link;
  if (!newest) return nothing('no event has shown the state of the issue yet');
  switch (link.life) {
    case 'moved':
      return nothing('the issue was transferred');
    case 'unclaimed':
      return planCreation(newest, view);
    case 'made': {
      const decision = decideUpdate(link, newest, view, Number.POSITIVE_INFINITY);
      if (decision.does !== 'send') return nothing(decision.why);
      const { fields } = decision;
      if (Object.keys(fields).length > 0) return { does: 'update', defectId: link.defect.id, fields };
      return nothing(looksAlike(link.defect));
    }
    case 'claimed': {
      const { by, marker } = link.claim;
      const decision = decideClaim(link.claim, await fateOf(by), view);
      switch (decision.does) {
        case 'take over': {
          if (decision.inherited) return { does: 'create', fields: fieldsOf(newest, view, marker), searches: true };
          return planCreation(newest, view);
        }
        case 'make':
          return planIssue(make(link, by, decision.defect) ?? link, view, fateOf);
        default:
          return nothing(decision.why);
      }
    }
  }
}

function planCreation(newest: NewestState, view: IssueView): IssuePlan {
  const decision = decideCreation(newest, view);
  return decision.does === 'create' ? { does: 'create', fields: fieldsOf(newest, view) } : nothing(decision.why);
}

const fieldsOf = ({ state }: NewestState, { repository }: IssueView, marker = '') =>
  defectFields(state, marker, repository.settings);

const nothing = (why: string): IssuePlan => ({ does: 'nothing', why });

/** The number of calls of several plans together. */
export type PlannedCalls = ReturnType<typeof summarizePlans>;

export function summarizePlans(plans: readonly IssuePlan[]) {
  const created = plans.filter(({ does }) => does === 'create').length;
  const updated = plans.filter(({ does }) => does === 'update').length;
  return {
    created,
    updated,
    /** Issues that need no call. */
    unchanged: plans.length - created - updated,
    /** Calls to the service. */
    calls: created + updated,
    /**
     * Creations that search the service first. `calls` does not count these searches, which take up to 20 calls each.
     */
    searches: plans.filter((plan) => plan.does === 'create' && plan.searches).length,
  };
}
