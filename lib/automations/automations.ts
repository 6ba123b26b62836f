import type { Automation } from '../engine/run/automation.ts';
import { answerFault } from './answer-fault/run.ts';
import { checkPullRequest } from './check-pull-request/run.ts';
import { completeChecklistItem } from './complete-checklist-item/run.ts';
import type { Context } from './context.ts';
import { createDefect } from './create-defect/run.ts';
import { createTask } from './create-task/run.ts';
import { failingTestsToDefect } from './failing-tests-to-defect/run.ts';
import { find } from './find/run.ts';
import { issueToDefect } from './issue-to-defect/run.ts';
import { issueToTask } from './issue-to-task/run.ts';
import { listProjectsInModal } from './list-projects/run.ts';
import { logTime } from './log-time/run.ts';
import { myTime } from './my-time/run.ts';
import { ofCollaborators } from './of-collaborators.ts';
import { ownAutomations } from './own/with-steps.ts';
import { onlyForKnown, recognizePerson } from './recognize-person/run.ts';
import { relate } from './relate/run.ts';
import { stillWritten } from './still-written.ts';
import { teamTimesheets } from './team-timesheets/run.ts';
import { testsToScenarios } from './tests-to-scenarios/run.ts';
import { timesheetReminder } from './timesheet-reminder/run.ts';
import { timesheetSummary } from './timesheet-summary/run.ts';

/** Every automation by its name. Add a new one here. */
export function createAutomations(context: Context): ReadonlyMap<string, Automation> {
  const isForKnown = context.config.slack?.access.knownOnly ?? false;
  const ofKnown = (automation: Automation) => (isForKnown ? onlyForKnown(automation, context) : automation);
  const ofPeople = [
    completeChecklistItem(context),
    createDefect(context),
    createTask(context),
    find(context),
    logTime(context),
    myTime(context),
    relate(context),
    ...ownAutomations(context),
  ];
  const all = [
    issueToDefect(context),
    issueToTask(context),
    testsToScenarios(context),
    failingTestsToDefect(context),
    ofCollaborators(answerFault(), context),
    checkPullRequest(context),
    teamTimesheets(context),
    timesheetReminder(context),
    timesheetSummary(context),
    listProjectsInModal(context),
    recognizePerson(context),
    ...ofPeople.map((automation) => ofCollaborators(ofKnown(stillWritten(automation, context)), context)),
  ];
  return new Map(all.map((automation) => [automation.name, automation]));
}
