/** Key of an item in the state table. */
export interface Key {
  pk: string;
  sk: string;
}

const at = (pk: string, sk: string): Key => ({ pk, sk });

/**
 * All keys of the table, with the file that writes each. Items of one job share a partition, so that one query returns
 * all of them.
 */
export const keys = {
  /** lib/runtime.ts: never stored. The answer to reading it contains the table's time. */
  time: () => at('time', 'time'),
  /** lib/engine/record/job-store.ts */
  job: (jobId: string) => at(`job#${jobId}`, 'job'),
  /** lib/engine/record/journal.ts: the record of a step. */
  step: (jobId: string, step: string) => at(`job#${jobId}`, `step#${step}`),
  /** lib/engine/record/journal.ts: the signed request of a creating step with an unknown outcome. */
  request: (jobId: string, step: string) => at(`job#${jobId}`, `request#${step}`),
  /** lib/links/links.ts: the link of an issue. */
  link: (entity: string) => at(`link#${entity}`, 'link'),
  /** lib/links/links.ts: the issue with that name. GitHub's names ignore upper and lower case. */
  linkName: (name: string) => at(`link-name#${name.toLowerCase()}`, 'name'),
  /** lib/links/relations.ts: an object to which a defect is linked. */
  relation: (connection: string, defect: string, kind: string, target: string) =>
    at(`relations#${connection}#${defect}`, `${kind}#${target}`),
  /** lib/links/made.ts: the object that jobs share under a name and a digest of the key. Never expires. */
  made: (connection: string, name: string, key: string) => at(`made#${connection}#${name}#${key}`, 'made'),
  /** lib/people/people.ts: the service's user for a person of Slack or GitHub. */
  person: (platform: string, id: string, connection: string) =>
    at(`person#${platform}#${id.toLowerCase()}`, `user#${connection}`),
  /** lib/people/people.ts: the users of the last list, by the first digit of the digest of their address. */
  users: (connection: string, digit: string) => at(`users#${connection}`, digit),
  /** lib/people/turns.ts: a person's unfinished requests. */
  turns: (platform: string, id: string) => at(`turns#${platform}#${id.toLowerCase()}`, 'turns'),
  /** lib/people/slack-people.ts: the Slack user with that address. */
  slackUser: (email: string) => at(`slack-user#${email}`, 'user'),
  /** lib/timesheets/known-timesheets.ts: the known part of a person's timesheet, by a digest of their address. */
  timesheet: (connection: string, person: string) => at(`timesheet#${connection}#${person}`, 'timesheet'),
  /** lib/timesheets/task-names.ts */
  taskName: (connection: string, task: string) => at(`task#${connection}#${task}`, 'name'),
  /** lib/automations/check-pull-request/task-exists.ts: whether the key can see that task. */
  checkedTask: (connection: string, task: string) => at(`checked-task#${connection}#${task.toLowerCase()}`, 'task'),
  /** lib/timesheets/absences.ts: a person who wants no more messages about that day. */
  mute: (slackUserId: string, date: string) => at(`mute#${slackUserId}`, date),
  /** lib/timesheets/absences.ts: until when a person has said to be away. */
  awayUntil: (slackUserId: string) => at(`away-until#${slackUserId}`, 'until'),
  /** lib/timesheets/absences.ts: a member of a team who was away on a day, for the summary. */
  awayOn: (team: string, date: string, what: string) => at(`away-on#${team}#${date}`, what),
  /** lib/platforms/slack/requests/admission.ts: the workspace in which the Slack app is installed. */
  slackWorkspace: () => at('slack-workspace', 'workspace'),
  /** lib/platforms/slack/requests/admission.ts: a person's standing in that workspace. */
  slackStanding: (teamId: string, userId: string) => at(`slack-standing#${teamId}#${userId}`, 'standing'),
  /** lib/automations/slack-permissions.ts: the members of a user group. */
  userGroup: (id: string) => at(`group#${id}`, 'group'),
  /** lib/platforms/slack/known-projects.ts: the projects of the last list. */
  projects: (connection: string) => at(`projects#${connection}`, 'projects'),
  /** lib/platforms/slack/known-names.ts: the tasks and people that jobs have met. */
  knownTasks: (connection: string) => at(`known-tasks#${connection}`, 'tasks'),
  knownPeople: (connection: string) => at(`known-people#${connection}`, 'people'),
  /** lib/timesheets/first-time-entry.ts: by the overrides for which it was checked. */
  firstTimeEntry: (connection: string, overrides: string) => at(`first-time-entry#${connection}`, overrides),
  /** lib/platforms/github/moved-repositories.ts: the id of a configured repository, its owner, and its newest name. */
  repository: (name: string) => at('repositories', name.toLowerCase()),
  /** lib/platforms/github/redelivery/hooks.ts: the hooks of one target, and the progress of redelivery for each. */
  hook: (name: string) => at('github-hooks', name),
  /** lib/platforms/github/redelivery/redelivery.ts: the redelivery of a failed delivery, by its GUID. */
  failedDelivery: (hook: string, guid: string) => at(`failed-deliveries#${hook}`, guid),
  /** lib/engine/record/replaced-table.ts: since when a table is used, by the time of its creation (ISO 8601). */
  tableBegan: (madeAt: string) => at('table-began', madeAt),
  /** lib/service/connection/breakers.ts: the breakers of the connection and its operations. */
  breaker: (connection: string) => at(`breaker#${connection}`, 'breakers'),
  /** lib/service/connection/learned.ts: the facts that the instance's answers have shown. */
  learned: (connection: string) => at(`learned#${connection}`, 'learned'),
  /**
   * lib/engine/run/readings.ts: the result of the last reading of a list, by a digest of the payload that narrowed it.
   */
  reading: (connection: string, list: string, scope: string) => at(`reading#${connection}#${list}`, scope),
  /** lib/service/budget/stranger-share.ts: by the day, YYYY-MM-DD. */
  strangers: (connection: string, day: string) => at(`strangers#${connection}`, day),
  /** lib/as-person/grants/grants.ts: a person's permission to act as them. */
  grant: (platform: string, id: string, connection: string) => at(`grant#${platform}#${id.toLowerCase()}`, connection),
  /** lib/as-person/linking/grant-requests.ts: a linked account that a person has requested and not yet confirmed. */
  accountLink: (platform: string, id: string, connection: string) =>
    at(`account-link#${platform}#${id.toLowerCase()}`, connection),
  /** lib/as-person/linking/receive-browser.ts: how many sign-ins a person has begun within an hour. */
  linkShare: (platform: string, id: string, hour: string) => at(`link-share#${platform}#${id.toLowerCase()}`, hour),
  /** lib/engine/run/newest-wins.ts: the value of the newest request, for a test scenario or a checklist item. */
  newest: (connection: string, kind: string, id: string) => at(`newest#${connection}#${kind}#${id}`, 'newest'),
  /**
   * lib/automations/tests-to-scenarios/scenario-results.ts: the result of the newest run of each workflow for a
   * scenario.
   */
  scenarioResults: (connection: string, scenario: string) =>
    at(`scenario-results#${connection}#${scenario}`, 'results'),
  /** lib/automations/tests-to-scenarios/failing-cases.ts: the test cases that fail in a workflow on a branch. */
  failingCases: (repository: string, workflow: string, branch: string) =>
    at(`failing-cases#${repository.toLowerCase()}`, `${workflow}#${branch}`),
  /** lib/engine/line/accept-taken.ts: when an event without a time was first accepted. Never expires. */
  customEvent: (jobId: string) => at(`own-event#${jobId}`, 'event'),
  /** lib/intake/schedule/accept-schedules.ts: until when the times of each schedule have their jobs. */
  customSchedules: () => at('schedules', 'own'),
  /** lib/runtime.ts: when a scheduled function last began. The console reads it together with the team's schedules. */
  scheduleRun: (slug: string) => at('schedules', slug),
  /**
   * lib/notices/parked-notices.ts: the notices about jobs parked in an hour, and the last hour with all notices sent.
   */
  parkedNotice: (name: string) => at('parked-notices', name),
  /** lib/engine/operate/new-troubles.ts: the troubles already reported, by kind. */
  troubles: (kind: string) => at('troubles', kind),
  /** lib/service/budget/budget-store.ts: the budget of a key, by its digest, or of an instance's MCP endpoint. */
  budget: (id: string) => at(`budget#${id}`, 'budget'),
  /** lib/service/budget/budget-ids.ts: the budget that a connection uses. */
  budgetOf: (connection: string) => at(`budget#${connection}`, 'of'),
};

/** The index of jobs by status and by the time of their next check. Only jobs have both attributes. */
export const jobsByStatus = { name: 'jobs-by-status', partition: 'status', sort: 'wakeAt' } as const;

/**
 * The index of the jobs in waiting lines, by `connection#lane`, or `connection#lane#operation` for a failing operation,
 * in the order of their events. It contains only what moving the line needs (lib/engine/line/waiting-line.ts), and the
 * form of the record.
 */
export const waitingLine = {
  name: 'waiting-line',
  partition: 'line',
  sort: 'createdAt',
  attributes: ['id', 'generation', 'lane', 'entity', 'slotAt', 'form'],
} as const;
