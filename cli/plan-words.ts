import type { DefectFields } from '../lib/automations/defect-text.ts';
import type { IssuePlan } from '../lib/automations/issue-plan.ts';
import type { Budget } from '../lib/budget/budget.ts';
import { type Lane, lanes } from '../lib/budget/lanes.ts';
import type { RelayConfig } from '../lib/config/schema.ts';
import type { JobStore } from '../lib/jobs/job-store.ts';
import { oneLine } from '../local/terminal.ts';

const COUNTED_UP_TO = 1_000;

/** `22 Nov 2026, 14:35 CET` in this machine's zone. */
export function localTime(ms: number): string {
  const style = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...style, timeZoneName: 'short' }).format(ms);
}

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

/** When so many calls will be done, by the budget and by what waits for it: `done by 22 Nov 2026, 14:35 CET`. */
export async function whenDone(
  connection: string,
  calls: number,
  lane: Lane,
  { budget, jobs, config }: { budget: Budget; jobs: JobStore; config: RelayConfig },
): Promise<string> {
  const limits = config.connections[connection]?.limits;
  if (!limits || calls === 0) return 'nothing has to wait for the budget';
  const before = lanes.slice(0, lanes.indexOf(lane));
  const lines = await Promise.all(before.map((one) => jobs.line(connection, one, COUNTED_UP_TO)));
  const ahead = lines.reduce((sum, line) => sum + line.length, 0);
  const at = await budget.foresee(connection, limits, { lane, calls, ahead });
  const more = ahead === 0 ? '' : `, after ${ahead} jobs that wait already`;
  return `done by about ${localTime(at)}${more}`;
}
