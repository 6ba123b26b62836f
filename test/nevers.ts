/**
 * A forbidden direction of imports, and the imports that still have it. Remove a line with its import, and add none.
 */
export interface Never {
  /** Folders that must not import from the others. */
  from: readonly string[];
  to: readonly string[];
  today: readonly string[];
}

export const nevers: readonly Never[] = [
  {
    from: ['lib/platforms'],
    to: ['lib/engine'],
    today: [],
  },
  {
    from: ['lib/triggers'],
    to: ['lib/engine', 'lib/state', 'lib/service'],
    today: ['lib/triggers/steps.ts -> lib/service/partner/operations/operations.ts'],
  },
  {
    from: ['lib/automations'],
    to: ['lib/state', 'lib/service'],
    today: [
      'lib/automations/check-pull-request/task-exists.ts -> lib/state/table/keys.ts',
      'lib/automations/check-pull-request/task-exists.ts -> lib/state/table/remembered.ts',
      'lib/automations/complete-checklist-item/run.ts -> lib/service/partner/operations/work-item-checklists.ts',
      'lib/automations/create-defect/run.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/custom/accept-custom.ts -> lib/state/metrics/metrics.ts',
      'lib/automations/custom/step-checks.ts -> lib/service/partner/operation.ts',
      'lib/automations/custom/step-checks.ts -> lib/service/partner/operations/operations.ts',
      'lib/automations/failing-tests-to-defect/run.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/find/run.ts -> lib/service/partner/operations/projects.ts',
      'lib/automations/find/run.ts -> lib/service/partner/operations/tasks.ts',
      'lib/automations/issue-to-defect/follow-issue.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/issue-to-defect/make-defect.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/list-projects/run.ts -> lib/service/partner/operations/projects.ts',
      'lib/automations/log-time/find-task.ts -> lib/service/partner/operations/tasks.ts',
      'lib/automations/log-time/run.ts -> lib/service/partner/operations/timelogs.ts',
      'lib/automations/relate/relate-defect.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/relate/run.ts -> lib/service/partner/operations/defects.ts',
      'lib/automations/slack-permissions.ts -> lib/state/table/keys.ts',
      'lib/automations/slack-permissions.ts -> lib/state/table/remembered.ts',
      'lib/automations/slack-permissions.ts -> lib/state/table/table.ts',
      'lib/automations/still-written.ts -> lib/state/table/expiry.ts',
      'lib/automations/tests-to-scenarios/failing-cases.ts -> lib/state/table/counted-item.ts',
      'lib/automations/tests-to-scenarios/failing-cases.ts -> lib/state/table/keys.ts',
      'lib/automations/tests-to-scenarios/failing-cases.ts -> lib/state/table/table.ts',
      'lib/automations/tests-to-scenarios/run.ts -> lib/service/partner/operations/test-scenarios.ts',
      'lib/automations/tests-to-scenarios/scenario-results.ts -> lib/state/table/counted-item.ts',
      'lib/automations/tests-to-scenarios/scenario-results.ts -> lib/state/table/keys.ts',
      'lib/automations/tests-to-scenarios/scenario-results.ts -> lib/state/table/table.ts',
      'lib/automations/verb.ts -> lib/service/budget/lanes.ts',
      'lib/automations/what-happened.ts -> lib/service/partner/operations/operations.ts',
    ],
  },
  {
    from: ['lib/engine'],
    to: ['lib/as-person'],
    today: [],
  },
  {
    from: ['lib/config'],
    to: ['lib/as-person', 'infra'],
    today: [],
  },
  {
    from: ['infra'],
    to: ['lib/engine'],
    today: ['infra/job-worker.ts -> lib/engine/record/in-plain-words.ts'],
  },
  {
    from: ['lib', 'functions', 'infra'],
    to: ['local', 'sandbox'],
    today: [],
  },
];

/**
 * Automations that import from another automation's folder. automations/custom, the frame for a team's automations,
 * does not count.
 */
export const acrossAutomations: readonly string[] = [
  'lib/automations/check-pull-request/run.ts -> lib/automations/issue-to-defect/jobs.ts',
  'lib/automations/complete-checklist-item/run.ts -> lib/automations/check-pull-request/task-exists.ts',
  'lib/automations/create-task/command.ts -> lib/automations/create-defect/command.ts',
  'lib/automations/custom/custom-steps.ts -> lib/automations/log-time/find-task.ts',
  'lib/automations/failing-tests-to-defect/run.ts -> lib/automations/relate/relate-defect.ts',
  'lib/automations/find/run.ts -> lib/automations/log-time/find-task.ts',
  'lib/automations/issue-to-task/on.ts -> lib/automations/issue-to-defect/on.ts',
  'lib/automations/my-time/run.ts -> lib/automations/log-time/find-task.ts',
  'lib/automations/relate/run.ts -> lib/automations/check-pull-request/task-exists.ts',
  'lib/automations/relate/run.ts -> lib/automations/issue-to-defect/defect-text.ts',
  'lib/automations/relate/run.ts -> lib/automations/issue-to-defect/issue-transfers.ts',
  'lib/automations/relate/run.ts -> lib/automations/issue-to-defect/jobs.ts',
  'lib/automations/relate/run.ts -> lib/automations/log-time/find-task.ts',
  'lib/automations/relate/written-lines.ts -> lib/automations/issue-to-defect/defect-text.ts',
  'lib/automations/relate/written-lines.ts -> lib/automations/issue-to-defect/jobs.ts',
  'lib/automations/tests-to-scenarios/failing-cases.ts -> lib/automations/failing-tests-to-defect/jobs.ts',
  'lib/automations/tests-to-scenarios/run.ts -> lib/automations/failing-tests-to-defect/jobs.ts',
  'lib/automations/timesheet-reminder/run.ts -> lib/automations/team-timesheets/jobs.ts',
  'lib/automations/timesheet-summary/run.ts -> lib/automations/team-timesheets/jobs.ts',
];
