import { requiresLink } from '../config/settings.ts';
import type { Job } from '../engine/record/job.ts';
import type { Automation } from '../engine/run/automation.ts';
import type { JobSteps } from '../engine/run/job-steps.ts';
import type { CustomAutomations } from '../triggers/custom-automation.ts';
import { run as answerFault } from './answer-fault/run.ts';
import { run as checkPullRequest } from './check-pull-request/run.ts';
import { run as completeChecklistItem } from './complete-checklist-item/run.ts';
import type { Context } from './context.ts';
import { run as createDefect } from './create-defect/run.ts';
import { run as createTask } from './create-task/run.ts';
import { customAutomations } from './custom/custom-run.ts';
import { run as failingTestsToDefect } from './failing-tests-to-defect/run.ts';
import { run as find } from './find/run.ts';
import { run as issueToDefect } from './issue-to-defect/run.ts';
import { run as issueToTask } from './issue-to-task/run.ts';
import { run as listProjects } from './list-projects/run.ts';
import { run as logTime } from './log-time/run.ts';
import { run as myTime } from './my-time/run.ts';
import { outcomeOfOutsider } from './of-collaborators.ts';
import type { OurAutomation } from './our-automation.ts';
import { run as recognizePerson } from './recognize-person/run.ts';
import { run as relate } from './relate/run.ts';
import { ensureStillWritten } from './still-written.ts';
import { run as teamTimesheets } from './team-timesheets/run.ts';
import { run as testsToScenarios } from './tests-to-scenarios/run.ts';
import { run as timesheetReminder } from './timesheet-reminder/run.ts';
import { run as timesheetSummary } from './timesheet-summary/run.ts';
import { createVerbs } from './verbs.ts';

/** The built-in automations. Add a new one here. */
const ours: readonly OurAutomation[] = [
  answerFault,
  checkPullRequest,
  completeChecklistItem,
  createDefect,
  createTask,
  failingTestsToDefect,
  find,
  issueToDefect,
  issueToTask,
  listProjects,
  logTime,
  myTime,
  recognizePerson,
  relate,
  teamTimesheets,
  testsToScenarios,
  timesheetReminder,
  timesheetSummary,
];

/** The names of all automations, including the team's. */
export const automationNames = ({ list }: CustomAutomations): string[] => [...ours, ...list].map(({ name }) => name);

/** Creates every automation, by its name. Each runs only for the people who may ask for its jobs. */
export function createAutomations(context: Context): ReadonlyMap<string, Automation> {
  const verbs = createVerbs(context.custom);
  const all = [...ours.map(({ name, of }) => ({ name, ...of(context) })), ...customAutomations(context)];
  return new Map(all.map((one) => [one.name, { ...one, run: (job, steps) => runAdmitted(one, job, steps) }]));

  async function runAdmitted({ run }: Automation, job: Job, steps: JobSteps) {
    const refused = await outcomeOfOutsider(job, steps, context);
    if (refused) return refused;
    await ensureKnown(job, steps, context);
    await ensureStillWritten(job, steps, context, verbs);
    return run(job, steps);
  }
}

/**
 * Checks a person if only known users of the service may give commands in Slack. A linked account also makes a person
 * known.
 * @throws {NotDone} for an unknown person
 */
async function ensureKnown(
  { replyTo, connection }: Job,
  steps: JobSteps,
  { config, people }: Pick<Context, 'config' | 'people'>,
): Promise<void> {
  if (config.slack?.access.knownOnly && replyTo?.in === 'slack' && !requiresLink(config, connection))
    await people.userOf({ in: 'slack', id: replyTo.userId }, connection, steps);
}
