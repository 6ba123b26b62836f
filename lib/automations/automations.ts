import type { Automation } from '../engine/run/automation.ts';
import { answerFault } from './answer-fault.ts';
import { backfill } from './backfill/backfill.ts';
import { ofBackfill } from './backfill/of-backfill.ts';
import { completeChecklistItem } from './complete-checklist-item/complete-checklist-item.ts';
import { createDefect } from './create-defect/create-defect.ts';
import { callTool, fillInTool, listTools } from './do-tool/do-tool.ts';
import { find } from './find/find.ts';
import { issueToDefect } from './issue-to-defect/issue-to-defect.ts';
import { listProjectsInModal } from './list-projects.ts';
import { listTasksInModal } from './list-tasks.ts';
import { logTime } from './log-time/log-time.ts';
import { ofCollaborators } from './of-collaborators.ts';
import { onlyForKnown, recognizePerson } from './recognize-person.ts';
import { stillWritten } from './still-written.ts';
import { teamTimesheets } from './timesheets/team-timesheets.ts';
import { timesheetReminder } from './timesheets/timesheet-reminder.ts';
import { timesheetSummary } from './timesheets/timesheet-summary.ts';
import type { Tools } from './tools.ts';

/** Every automation by its name. Add a new one here. */
export function createAutomations(tools: Tools): ReadonlyMap<string, Automation> {
  const isForKnown = tools.config.slack?.access.knownOnly ?? false;
  const ofKnown = (automation: Automation) => (isForKnown ? onlyForKnown(automation, tools) : automation);
  const ofPeople = [
    completeChecklistItem(tools),
    createDefect(tools),
    find(tools),
    logTime(tools),
    listTools(tools),
    callTool(tools),
  ];
  const all = [
    ofBackfill(issueToDefect(tools), tools),
    backfill(tools),
    ofCollaborators(answerFault(), tools),
    teamTimesheets(tools),
    timesheetReminder(tools),
    timesheetSummary(tools),
    listProjectsInModal(tools),
    listTasksInModal(tools),
    recognizePerson(tools),
    fillInTool(tools),
    ...ofPeople.map((automation) => ofCollaborators(ofKnown(stillWritten(automation, tools)), tools)),
  ];
  return new Map(all.map((automation) => [automation.name, automation]));
}
