/** Key of an item in the state table. */
export interface Key {
  pk: string;
  sk: string;
}

/**
 * Every key of the table, and who writes it. Items of one job share a partition, so that one query shows its story.
 */
export const keys = {
  /** lib/runtime.ts: never there. The answer to its reading has the time of the table. */
  time: (): Key => ({ pk: 'time', sk: 'time' }),
  /** lib/engine/record/job-store.ts */
  job: (jobId: string): Key => ({ pk: `job#${jobId}`, sk: 'job' }),
  /** lib/engine/record/journal.ts: what a step did. */
  step: (jobId: string, step: string): Key => ({ pk: `job#${jobId}`, sk: `step#${step}` }),
  /** lib/engine/record/journal.ts: the signed request of a creating step whose outcome is open. */
  request: (jobId: string, step: string): Key => ({ pk: `job#${jobId}`, sk: `request#${step}` }),
  /** lib/links/links.ts: what an entity of GitHub has become in the service. */
  link: (entity: string): Key => ({ pk: `link#${entity}`, sk: 'link' }),
  /** lib/links/links.ts: the entity that goes by that name; GitHub's names know no letter case. */
  linkName: (name: string): Key => ({ pk: `link-name#${name.toLowerCase()}`, sk: 'name' }),
  /** lib/links/relations.ts: what a defect is linked to. */
  relation: (connection: string, defect: string, kind: string, target: string): Key => ({
    pk: `relations#${connection}#${defect}`,
    sk: `${kind}#${target}`,
  }),
  /** lib/links/made.ts: what jobs share under a name and a digest of the key. It never expires. */
  made: (connection: string, name: string, key: string): Key => ({
    pk: `made#${connection}#${name}#${key}`,
    sk: 'made',
  }),
  /** lib/people/people.ts: who a person of Slack or GitHub is in the service. */
  person: (platform: string, id: string, connection: string): Key => ({
    pk: `person#${platform}#${id.toLowerCase()}`,
    sk: `user#${connection}`,
  }),
  /** lib/people/people.ts: the users that were last listed, by the first digit of the digest of their address. */
  users: (connection: string, digit: string): Key => ({ pk: `users#${connection}`, sk: digit }),
  /** lib/people/turns.ts: what a person asked for and has not ended. */
  turns: (platform: string, id: string): Key => ({ pk: `turns#${platform}#${id.toLowerCase()}`, sk: 'turns' }),
  /** lib/people/slack-people.ts: who has that address in Slack. */
  slackUser: (email: string): Key => ({ pk: `slack-user#${email}`, sk: 'user' }),
  /** lib/timesheets/known-timesheets.ts: what is known of a person's time, by a digest of their address. */
  timesheet: (connection: string, person: string): Key => ({
    pk: `timesheet#${connection}#${person}`,
    sk: 'timesheet',
  }),
  /** lib/timesheets/task-names.ts */
  taskName: (connection: string, task: string): Key => ({ pk: `task#${connection}#${task}`, sk: 'name' }),
  /** lib/automations/check-pull-request/task-exists.ts: whether the key can see that task. */
  checkedTask: (connection: string, task: string): Key => ({
    pk: `checked-task#${connection}#${task.toLowerCase()}`,
    sk: 'task',
  }),
  /** lib/timesheets/absences.ts: who does not want to hear of that day any more. */
  mute: (slackUserId: string, date: string): Key => ({ pk: `mute#${slackUserId}`, sk: date }),
  /** lib/timesheets/absences.ts: until when a person says to be away. */
  awayUntil: (slackUserId: string): Key => ({ pk: `away-until#${slackUserId}`, sk: 'until' }),
  /** lib/timesheets/absences.ts: who of a team was away on a day, for the summary. */
  awayOn: (team: string, date: string, what: string): Key => ({ pk: `away-on#${team}#${date}`, sk: what }),
  /** lib/platforms/slack/requests/admission.ts: where the Slack app is installed. */
  slackWorkspace: (): Key => ({ pk: 'slack-workspace', sk: 'workspace' }),
  /** lib/platforms/slack/requests/admission.ts: what a person is to that workspace. */
  slackStanding: (teamId: string, userId: string): Key => ({
    pk: `slack-standing#${teamId}#${userId}`,
    sk: 'standing',
  }),
  /** lib/automations/slack-permissions.ts: who is in a user group. */
  userGroup: (id: string): Key => ({ pk: `group#${id}`, sk: 'group' }),
  /** lib/platforms/slack/known-projects.ts: the projects that were last seen. */
  projects: (connection: string): Key => ({ pk: `projects#${connection}`, sk: 'projects' }),
  /** lib/platforms/slack/known-names.ts: tasks and people that jobs came across. */
  knownTasks: (connection: string): Key => ({ pk: `known-tasks#${connection}`, sk: 'tasks' }),
  knownPeople: (connection: string): Key => ({ pk: `known-people#${connection}`, sk: 'people' }),
  /** lib/timesheets/first-time-entry.ts, by the overrides it was made with. */
  firstTimeEntry: (connection: string, overrides: string): Key => ({
    pk: `first-time-entry#${connection}`,
    sk: overrides,
  }),
  /** lib/platforms/github/moved-repositories.ts: the id of a configured repository, its owner, and its newest name. */
  repository: (name: string): Key => ({ pk: 'repositories', sk: name.toLowerCase() }),
  /** lib/platforms/github/redelivery/hooks.ts: the hooks of one target, and how far redelivery is with each. */
  hook: (name: string): Key => ({ pk: 'github-hooks', sk: name }),
  /** lib/platforms/github/redelivery/redelivery.ts: what was done about a failed delivery, by its GUID. */
  failedDelivery: (hook: string, guid: string): Key => ({ pk: `failed-deliveries#${hook}`, sk: guid }),
  /** lib/engine/record/replaced-table.ts: since when a table is used, by when it was made (ISO 8601). */
  tableBegan: (madeAt: string): Key => ({ pk: 'table-began', sk: madeAt }),
  /** lib/service/connection/breakers.ts: of the connection and of its operations. */
  breaker: (connection: string): Key => ({ pk: `breaker#${connection}`, sk: 'breakers' }),
  /** lib/service/connection/learned.ts: what the answers of the instance have shown about it. */
  learned: (connection: string): Key => ({ pk: `learned#${connection}`, sk: 'learned' }),
  /** lib/engine/run/readings.ts: what the last reading of a list found, by a digest of the payload that narrowed it. */
  reading: (connection: string, list: string, scope: string): Key => ({
    pk: `reading#${connection}#${list}`,
    sk: scope,
  }),
  /** lib/service/budget/stranger-share.ts: by the day, as YYYY-MM-DD. */
  strangers: (connection: string, day: string): Key => ({ pk: `strangers#${connection}`, sk: day }),
  /** lib/as-person/grants/grants.ts: a person's permission to act as them. */
  grant: (platform: string, id: string, connection: string): Key => ({
    pk: `grant#${platform}#${id.toLowerCase()}`,
    sk: connection,
  }),
  /** lib/as-person/linking/grant-request.ts: a link that a person has asked for, and not confirmed yet. */
  accountLink: (platform: string, id: string, connection: string): Key => ({
    pk: `account-link#${platform}#${id.toLowerCase()}`,
    sk: connection,
  }),
  /** lib/as-person/linking/receive-browser.ts: how many sign-ins a person has begun within an hour. */
  linkShare: (platform: string, id: string, hour: string): Key => ({
    pk: `link-share#${platform}#${id.toLowerCase()}`,
    sk: hour,
  }),
  /** lib/engine/run/newest-wins.ts: what the newest request set, of a test scenario or a checklist item. */
  newest: (connection: string, kind: string, id: string): Key => ({
    pk: `newest#${connection}#${kind}#${id}`,
    sk: 'newest',
  }),
  /** lib/automations/tests-to-scenarios/scenario-results.ts: what the newest run of each workflow said of a scenario. */
  scenarioResults: (connection: string, scenario: string): Key => ({
    pk: `scenario-results#${connection}#${scenario}`,
    sk: 'results',
  }),
  /** lib/automations/tests-to-scenarios/failing-cases.ts: the test cases that fail in a workflow on a branch. */
  failingCases: (repository: string, workflow: string, branch: string): Key => ({
    pk: `failing-cases#${repository.toLowerCase()}`,
    sk: `${workflow}#${branch}`,
  }),
  /** lib/engine/line/accept-taken.ts: when an event without a time was accepted first. It never expires. */
  customEvent: (jobId: string): Key => ({ pk: `own-event#${jobId}`, sk: 'event' }),
  /** lib/intake/schedule/accept-schedules.ts: until when the times of each schedule have their jobs. */
  customSchedules: (): Key => ({ pk: 'schedules', sk: 'own' }),
  /** lib/runtime.ts: when a function that the clock fires began last. The console reads it with the own schedules. */
  scheduleRun: (slug: string): Key => ({ pk: 'schedules', sk: slug }),
  /** lib/notices/parked-notices.ts: what was told of the jobs parked in an hour, and which hour is all told. */
  parkedNotice: (name: string): Key => ({ pk: 'parked-notices', sk: name }),
  /** lib/engine/operate/new-troubles.ts: what was told already, by the kind of trouble. */
  troubles: (kind: string): Key => ({ pk: 'troubles', sk: kind }),
  /** lib/service/budget/budget-store.ts: of a key, by its digest, or of an instance's MCP endpoint. */
  budget: (id: string): Key => ({ pk: `budget#${id}`, sk: 'budget' }),
  /** lib/service/budget/budget-ids.ts: the budget that a connection uses. */
  budgetOf: (connection: string): Key => ({ pk: `budget#${connection}`, sk: 'of' }),
};

/** The index of jobs by status and by the time at which they should be looked at; only jobs have both. */
export const jobsByStatus = { name: 'jobs-by-status', partition: 'status', sort: 'wakeAt' } as const;

/**
 * The index of the jobs that stand in a waiting line, by `connection#lane`, or `connection#lane#operation` for an
 * operation that fails, and in the order in which their events came.
 * It holds only what moving the line needs (lib/engine/line/waiting-line.ts), and by which version the record can be read.
 */
export const waitingLine = {
  name: 'waiting-line',
  partition: 'line',
  sort: 'createdAt',
  attributes: ['id', 'generation', 'lane', 'entity', 'slotAt', 'form'],
} as const;
