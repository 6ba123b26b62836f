import type { Automation } from '../jobs/automation.ts';
import { answerFault } from './answer-fault.ts';
import { backfill } from './backfill.ts';
import { completeChecklistItem } from './complete-checklist-item.ts';
import { createDefect } from './create-defect.ts';
import { callTool, fillInTool, listTools } from './do-tool.ts';
import { find } from './find.ts';
import { issueToDefect } from './issue-to-defect.ts';
import { listProjectsInModal } from './list-projects.ts';
import { listTasksInModal } from './list-tasks.ts';
import { logTime } from './log-time.ts';
import { ofBackfill } from './of-backfill.ts';
import { ofCollaborators } from './of-collaborators.ts';
import { onlyForKnown, recognizePerson } from './recognize-person.ts';
import { stillWritten } from './still-written.ts';
import { teamTimesheets } from './team-timesheets.ts';
import { timesheetReminder } from './timesheet-reminder.ts';
import { timesheetSummary } from './timesheet-summary.ts';
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
