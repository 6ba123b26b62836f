/** Key of an item in the state table. */
export interface Key {
  pk: string;
  sk: string;
}

const at = (pk: string, sk: string): Key => ({ pk, sk });

/**
 * Every key of the table, and who writes it. Items of one job share a partition, so that one query shows its story.
 */
export const keys = {
  /** lib/runtime.ts: never there. The answer to its reading has the time of the table. */
  time: () => at('time', 'time'),
  /** lib/engine/record/job-store.ts */
  job: (jobId: string) => at(`job#${jobId}`, 'job'),
  /** lib/engine/record/journal.ts: what a step did. */
  step: (jobId: string, step: string) => at(`job#${jobId}`, `step#${step}`),
  /** lib/engine/record/journal.ts: the signed request of a creating step whose outcome is open. */
  request: (jobId: string, step: string) => at(`job#${jobId}`, `request#${step}`),
  /** lib/links/links.ts: what an entity of GitHub has become in the service. */
  link: (entity: string) => at(`link#${entity}`, 'link'),
  /** lib/links/links.ts: the entity that goes by that name; GitHub's names know no letter case. */
  linkName: (name: string) => at(`link-name#${name.toLowerCase()}`, 'name'),
  /** lib/links/relations.ts: what a defect is linked to. */
  relation: (connection: string, defect: string, kind: string, target: string) =>
    at(`relations#${connection}#${defect}`, `${kind}#${target}`),
  /** lib/links/made.ts: what jobs share under a name and a digest of the key. It never expires. */
  made: (connection: string, name: string, key: string) => at(`made#${connection}#${name}#${key}`, 'made'),
  /** lib/people/people.ts: who a person of Slack or GitHub is in the service. */
  person: (platform: string, id: string, connection: string) =>
    at(`person#${platform}#${id.toLowerCase()}`, `user#${connection}`),
  /** lib/people/people.ts: the users that were last listed, by the first digit of the digest of their address. */
  users: (connection: string, digit: string) => at(`users#${connection}`, digit),
  /** lib/people/turns.ts: what a person asked for and has not ended. */
  turns: (platform: string, id: string) => at(`turns#${platform}#${id.toLowerCase()}`, 'turns'),
  /** lib/people/slack-people.ts: who has that address in Slack. */
  slackUser: (email: string) => at(`slack-user#${email}`, 'user'),
  /** lib/timesheets/known-timesheets.ts: what is known of a person's time, by a digest of their address. */
  timesheet: (connection: string, person: string) => at(`timesheet#${connection}#${person}`, 'timesheet'),
  /** lib/timesheets/task-names.ts */
  taskName: (connection: string, task: string) => at(`task#${connection}#${task}`, 'name'),
  /** lib/automations/check-pull-request/task-exists.ts: whether the key can see that task. */
  checkedTask: (connection: string, task: string) => at(`checked-task#${connection}#${task.toLowerCase()}`, 'task'),
  /** lib/timesheets/absences.ts: who does not want to hear of that day any more. */
  mute: (slackUserId: string, date: string) => at(`mute#${slackUserId}`, date),
  /** lib/timesheets/absences.ts: until when a person says to be away. */
  awayUntil: (slackUserId: string) => at(`away-until#${slackUserId}`, 'until'),
  /** lib/timesheets/absences.ts: who of a team was away on a day, for the summary. */
  awayOn: (team: string, date: string, what: string) => at(`away-on#${team}#${date}`, what),
  /** lib/platforms/slack/requests/admission.ts: where the Slack app is installed. */
  slackWorkspace: () => at('slack-workspace', 'workspace'),
  /** lib/platforms/slack/requests/admission.ts: what a person is to that workspace. */
  slackStanding: (teamId: string, userId: string) => at(`slack-standing#${teamId}#${userId}`, 'standing'),
  /** lib/automations/slack-permissions.ts: who is in a user group. */
  userGroup: (id: string) => at(`group#${id}`, 'group'),
  /** lib/platforms/slack/known-projects.ts: the projects that were last seen. */
  projects: (connection: string) => at(`projects#${connection}`, 'projects'),
  /** lib/platforms/slack/known-names.ts: tasks and people that jobs came across. */
  knownTasks: (connection: string) => at(`known-tasks#${connection}`, 'tasks'),
  knownPeople: (connection: string) => at(`known-people#${connection}`, 'people'),
  /** lib/timesheets/first-time-entry.ts, by the overrides it was made with. */
  firstTimeEntry: (connection: string, overrides: string) => at(`first-time-entry#${connection}`, overrides),
  /** lib/platforms/github/moved-repositories.ts: the id of a configured repository, its owner, and its newest name. */
  repository: (name: string) => at('repositories', name.toLowerCase()),
  /** lib/platforms/github/redelivery/hooks.ts: the hooks of one target, and how far redelivery is with each. */
  hook: (name: string) => at('github-hooks', name),
  /** lib/platforms/github/redelivery/redelivery.ts: what was done about a failed delivery, by its GUID. */
  failedDelivery: (hook: string, guid: string) => at(`failed-deliveries#${hook}`, guid),
  /** lib/engine/record/replaced-table.ts: since when a table is used, by when it was made (ISO 8601). */
  tableBegan: (madeAt: string) => at('table-began', madeAt),
  /** lib/service/connection/breakers.ts: of the connection and of its operations. */
  breaker: (connection: string) => at(`breaker#${connection}`, 'breakers'),
  /** lib/service/connection/learned.ts: what the answers of the instance have shown about it. */
  learned: (connection: string) => at(`learned#${connection}`, 'learned'),
  /** lib/engine/run/readings.ts: what the last reading of a list found, by a digest of the payload that narrowed it. */
  reading: (connection: string, list: string, scope: string) => at(`reading#${connection}#${list}`, scope),
  /** lib/service/budget/stranger-share.ts: by the day, as YYYY-MM-DD. */
  strangers: (connection: string, day: string) => at(`strangers#${connection}`, day),
  /** lib/as-person/grants/grants.ts: a person's permission to act as them. */
  grant: (platform: string, id: string, connection: string) => at(`grant#${platform}#${id.toLowerCase()}`, connection),
  /** lib/as-person/linking/grant-requests.ts: a link that a person has asked for, and not confirmed yet. */
  accountLink: (platform: string, id: string, connection: string) =>
    at(`account-link#${platform}#${id.toLowerCase()}`, connection),
  /** lib/as-person/linking/receive-browser.ts: how many sign-ins a person has begun within an hour. */
  linkShare: (platform: string, id: string, hour: string) => at(`link-share#${platform}#${id.toLowerCase()}`, hour),
  /** lib/engine/run/newest-wins.ts: what the newest request set, of a test scenario or a checklist item. */
  newest: (connection: string, kind: string, id: string) => at(`newest#${connection}#${kind}#${id}`, 'newest'),
  /** lib/automations/tests-to-scenarios/scenario-results.ts: what the newest run of each workflow said of a scenario. */
  scenarioResults: (connection: string, scenario: string) =>
    at(`scenario-results#${connection}#${scenario}`, 'results'),
  /** lib/automations/tests-to-scenarios/failing-cases.ts: the test cases that fail in a workflow on a branch. */
  failingCases: (repository: string, workflow: string, branch: string) =>
    at(`failing-cases#${repository.toLowerCase()}`, `${workflow}#${branch}`),
  /** lib/engine/line/accept-taken.ts: when an event without a time was accepted first. It never expires. */
  customEvent: (jobId: string) => at(`own-event#${jobId}`, 'event'),
  /** lib/intake/schedule/accept-schedules.ts: until when the times of each schedule have their jobs. */
  customSchedules: () => at('schedules', 'own'),
  /** lib/runtime.ts: when a function that the clock fires began last. The console reads it with the own schedules. */
  scheduleRun: (slug: string) => at('schedules', slug),
  /** lib/notices/parked-notices.ts: what was told of the jobs parked in an hour, and which hour is all told. */
  parkedNotice: (name: string) => at('parked-notices', name),
  /** lib/engine/operate/new-troubles.ts: what was told already, by the kind of trouble. */
  troubles: (kind: string) => at('troubles', kind),
  /** lib/service/budget/budget-store.ts: of a key, by its digest, or of an instance's MCP endpoint. */
  budget: (id: string) => at(`budget#${id}`, 'budget'),
  /** lib/service/budget/budget-ids.ts: the budget that a connection uses. */
  budgetOf: (connection: string) => at(`budget#${connection}`, 'of'),
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
