import type { SlackConfig } from '../config/schema.ts';
import type { Automation } from '../jobs/automation.ts';
import { answerFault } from './answer-fault.ts';
import { completeChecklistItem } from './complete-checklist-item.ts';
import { createDefect } from './create-defect.ts';
import { find } from './find.ts';
import { type IssueToDefectOptions, issueToDefect } from './issue-to-defect.ts';
import { type ListProjectsOptions, listProjectsInModal } from './list-projects.ts';
import { listTasksInModal } from './list-tasks.ts';
import { type LogTimeOptions, logTime } from './log-time.ts';
import { type OfCollaboratorsOptions, ofCollaborators } from './of-collaborators.ts';
import { onlyForKnown, recognizePerson } from './recognize-person.ts';
import { type StillWrittenOptions, stillWritten } from './still-written.ts';
import { type TeamTimesheetsOptions, teamTimesheets } from './team-timesheets.ts';
import { type TimesheetReminderOptions, timesheetReminder } from './timesheet-reminder.ts';
import { type TimesheetSummaryOptions, timesheetSummary } from './timesheet-summary.ts';

export type AutomationsOptions = TeamTimesheetsOptions &
  TimesheetReminderOptions &
  TimesheetSummaryOptions &
  IssueToDefectOptions &
  LogTimeOptions &
  ListProjectsOptions &
  StillWrittenOptions &
  OfCollaboratorsOptions & {
    /** Undefined where relay.config.ts has no slack. */
    settings: SlackConfig | undefined;
  };

/** Every automation by its name. A new one is added here. */
export function createAutomations(options: AutomationsOptions): ReadonlyMap<string, Automation> {
  const ofPeople = [completeChecklistItem(), createDefect(), find(), logTime(options)];
  const { people, settings } = options;
  const ofKnown = (automation: Automation) =>
    settings?.access.knownOnly ? onlyForKnown(automation, people) : automation;
  const all = [
    issueToDefect(options),
    ofCollaborators(answerFault(), options),
    teamTimesheets(options),
    timesheetReminder(options),
    timesheetSummary(options),
    listProjectsInModal(options),
    listTasksInModal(options),
    recognizePerson(people),
    ...ofPeople.map((automation) => ofCollaborators(ofKnown(stillWritten(automation, options)), options)),
  ];
  return new Map(all.map((automation) => [automation.name, automation]));
}
