import type { DefectFields } from '../lib/automations/issue-to-defect/defect-text.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import { localTime } from '../lib/dates.ts';
import { foreseeCalls } from '../lib/engine/operate/job-counts.ts';
import type { JobStore } from '../lib/engine/record/job-store.ts';
import type { IssuePlan } from '../lib/operators/issue-plan.ts';
import type { Budget } from '../lib/service/budget/budget.ts';
import type { Lane } from '../lib/service/budget/lanes.ts';
import { counted } from '../lib/text.ts';
import { oneLine } from '../local/terminal.ts';

/** What the job of an issue would do: `create, priority High, severity Major`. */
export function planInWords(plan: IssuePlan): string {
  if (plan.does === 'nothing') return `no call: ${oneLine(plan.why)}`;
  const what = plan.does === 'create' ? 'create' : `update defect ${plan.defectId}`;
  return [what, ...fieldsInWords(plan.fields)].join(', ');
}

function fieldsInWords({ title, description, ...chosen }: Partial<DefectFields>): string[] {
  const values = Object.entries(chosen).map(([field, value]) => `${field} ${oneLine(String(value))}`);
  const bytes = description === undefined ? [] : [`description of ${Buffer.byteLength(description)} bytes`];
  return [...(title === undefined ? [] : ['title']), ...values, ...bytes];
}

/**
 * When this many more calls will be done, after the jobs that already wait for the budget: `done by about 2026-11-22
 * 14:35:00 CET`.
 */
export async function whenDone(
  connection: string,
  calls: number,
  lane: Lane,
  { budget, jobs, config }: { budget: Budget; jobs: JobStore; config: RelayConfig },
): Promise<string> {
  const limits = config.connections[connection]?.limits;
  if (!limits || calls === 0) return 'nothing has to wait for the budget';
  const { at, ahead } = await foreseeCalls({ connection, limits, lane, calls }, { budget, jobs });
  const more = ahead === 0 ? '' : `, after ${counted(ahead, 'job')} already waiting`;
  return `done by about ${localTime(at)}${more}`;
}
