import type { IssueToDefectConfig } from '../../config/schema.ts';
import { NeedsOperator } from '../../engine/record/interruption.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import type { Applied, Claim, Defect, Holding, NewestState } from '../../links/link-life.ts';
import type { ClaimFate } from './claim-fate.ts';
import { appliedOf, type DefectFields, defectFields, fieldsToSend, isDefect } from './defect-text.ts';

/**
 * The decisions of an issue's job, as pure functions. lib/automations/issue-to-defect/run.ts carries them out, and
 * lib/operators/issue-plan.ts shows them.
 */
export interface IssueView {
  /** The job that decides, or the job that an event would create. */
  job: Pick<JobDraft, 'connection' | 'entity' | 'lane' | 'stranger'>;
  repository: IssueRepository;
}

/** A repository whose issues become defects, as currently configured in relay.config.ts. */
export interface IssueRepository {
  /** The configured name, `owner/name`. */
  name: string;
  connection: string;
  settings: IssueToDefectConfig;
}

/** Nothing is done; `why` is for people. */
type Leave = { does: 'leave'; why: string };
/** The job is parked for a person. */
type Park = { does: 'park'; why: string };

const GONE =
  'the issue was deleted or transferred, and the relay cannot tell which of two states of its last second is newer';

/** Decides whether an issue without a defect gets one. */
export function decideCreation(
  newest: NewestState | undefined,
  { job, repository: { name, connection, settings } }: IssueView,
): { does: 'create' } | Leave | Park {
  if (newest?.isGone) return { does: 'leave', why: GONE };
  if (!newest || !isDefect(newest.state.labels, settings)) {
    const why = `the issue has no label ${settings.labels.join(' or ')} now, and no defect`;
    return { does: 'leave', why };
  }
  if (connection === job.connection) return { does: 'create' };
  const why = `${name} is on the connection ${connection} now, and this job on ${job.connection}; the next event of the issue creates its defect`;
  return { does: 'park', why };
}

/** The decision about a claim that another job holds. */
type ClaimDecision =
  | { does: 'take over'; connection: string; inherited?: Applied }
  /** The other job created a defect, but ended before it updated the link. */
  | { does: 'make'; defect: Pick<Defect, 'id' | 'applied'> }
  /** The other job will create the defect, from the newest state of the issue. */
  | { does: 'leave to it'; why: string }
  /** The other job is about to create the defect, but this job should. It looks again later. */
  | { does: 'wait'; while: 'running' | 'waiting'; why: string }
  /** A person has to decide about the other job first. */
  | { does: 'leave open'; why: string }
  | Park;

export function decideClaim(held: Claim, fate: ClaimFate, view: IssueView): ClaimDecision {
  const { by } = held;
  const { job } = view;
  switch (fate.fate) {
    case 'under way': {
      const why = `${by} creates the defect from the newest state of the issue`;
      // A job that is being discarded no longer creates a defect.
      if (!fate.job.discarded && !goesFirst(view, fate.job, held)) return { does: 'leave to it', why };
      if (fate.isIdle) return { does: 'take over', connection: job.connection };
      return { does: 'wait', while: fate.job.status === 'running' ? 'running' : 'waiting', why };
    }
    case 'unknown': {
      const why = `the parked job ${by} may have created the defect; decide with npx partner-relay resolve`;
      return { does: 'leave open', why };
    }
    case 'made':
      return { does: 'make', defect: { id: fate.created.id, applied: appliedOf(fate.created.sent) } };
    case 'nothing':
    case 'gone': {
      const inherited = fate.fate === 'gone' ? fate.sent : held.inherited;
      if (!inherited) return { does: 'take over', connection: job.connection };
      if (held.connection === job.connection) return { does: 'take over', connection: job.connection, inherited };
      return { does: 'park', why: `on the connection ${held.connection}, ${mayHaveCreated(job)}` };
    }
  }
}

/**
 * Returns true if the job goes first. Events precede a backfill, which may take hours, and members precede outsiders.
 */
function goesFirst({ job, repository }: IssueView, other: IssueView['job'], held: Claim): boolean {
  const goesLast = ({ lane, stranger }: IssueView['job']) => lane === 'backfill' || stranger !== undefined;
  const isMisplaced = held.connection !== repository.connection && job.connection === repository.connection;
  return isMisplaced || (goesLast(other) && !goesLast(job));
}

/** How a person can decide about a defect that may exist. */
export const howToDecide = ({ entity }: IssueView['job']) =>
  `decide with npx partner-relay issue ${entity} --set <defect id> or --clear, then replay the job`;
export const mayHaveCreated = (job: IssueView['job']) =>
  `an earlier job may have created a defect; ${howToDecide(job)}`;

/**
 * Decides how to update an issue's defect.
 * @param now epoch milliseconds; fields that an unanswered update may still change after that are sent later
 * @returns for `send`, all fields of the defect, and the fields to send, which may be empty
 */
export function decideUpdate(
  { claim, defect }: Holding,
  newest: NewestState | undefined,
  { job, repository }: IssueView,
  now: number,
): { does: 'send'; all: DefectFields; fields: Partial<DefectFields> } | Leave | Park {
  if (claim.connection !== job.connection) {
    const where = `defect ${defect.id} is on the connection ${claim.connection}`;
    if (claim.connection === repository.connection) return { does: 'leave', why: `${where}, and so is the issue now` };
    const why = `${where}, and ${repository.name} is on ${repository.connection} now; after npx partner-relay issue ${job.entity} --clear the next event creates another one there`;
    return { does: 'park', why };
  }
  if (!newest) return { does: 'leave', why: `no event has shown the state of the issue of defect ${defect.id} yet` };
  if (newest.isGone) return { does: 'leave', why: GONE };
  const all = defectFields(newest.state, claim.marker, repository.settings);
  return { does: 'send', all, fields: fieldsToSend(all, defect, now) };
}

export const looksAlike = ({ id }: Pick<Defect, 'id'>) => `defect ${id} matches the issue`;

/** @throws {NeedsOperator} for `park` */
export function leaveOrPark({ does, why }: Leave | Park): string {
  if (does === 'park') throw new NeedsOperator(why);
  return `nothing to do: ${why}`;
}
