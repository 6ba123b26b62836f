import { faultJobs } from '../../automations/answer-fault/jobs.ts';
import type { DatedDraft } from '../../engine/line/accept-taken.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import type { JobStore } from '../../engine/record/job-store.ts';
import { createTurns, TOO_MANY } from '../../people/turns.ts';
import type { Table } from '../../state/table/table.ts';

/** If a person has too many jobs under way, replaces their commands with a job that tells them. */
export async function withinTurns(
  drafts: readonly DatedDraft[],
  { table, jobs, clock }: { table: Table; jobs: JobStore; clock: () => number },
): Promise<DatedDraft[]> {
  const turns = createTurns(table, jobs, clock);
  const taken: DatedDraft[] = [];
  for (const one of drafts) {
    const { draft } = one;
    const by = draft.asked?.by;
    const refusal = by && refusalOf(draft);
    // A command that was reported as not accepted stays refused, even in a redelivery.
    const isTaken = !refusal || (!(await jobs.get(refusal.id)) && (await turns.take(by, draft.id)) !== 'too many');
    taken.push(isTaken ? one : { ...one, draft: refusal });
  }
  return taken;
}

function refusalOf({ id, connection, lane, entity, summary, replyTo, asked }: JobDraft): JobDraft {
  const { unproven } = asked ?? {};
  return faultJobs.draft({
    connection,
    lane,
    entity,
    summary: `${summary} is one too many`,
    happened: [id, 'too many'],
    input: { fault: TOO_MANY },
    replyTo,
    ...(unproven && { asked: { unproven } }),
  });
}
