import * as z from 'zod';

/**
 * What the console's server answers, and what its pages send. Everything is JSON, times are epoch milliseconds, and
 * texts may come from outside: the pages render them as text only. A request needs the header `authorization: Bearer
 * <token>`. An error is `{ error: string }` with a status of 4xx or 5xx, in words for the operator.
 *
 * This file imports nothing of the server, because the pages are compiled without Node's types. They use its types only,
 * and the server checks with its schemas what they send.
 */

/** The status of a job, as in lib/engine/record/job.ts. */
export type JobStatus = 'queued' | 'running' | 'waiting' | 'succeeded' | 'parked';

/** A lane, as in lib/service/budget/lanes.ts. */
export type Lane = 'interactive' | 'further' | 'background' | 'backfill';

/** `GET /api/relay`: what this console operates, and what it may do. */
export interface RelayFacts {
  /** `this machine`, or the name of the stage. */
  name: string;
  /** False if the console is read-only. The server refuses every change in that case. */
  operate: boolean;
  /** Who operates: a user of the machine, or the caller's ARN. It is recorded with each change. */
  operator: string;
  connections: string[];
  automations: string[];
  /** True on one machine: the screen Try exists. */
  canTry: boolean;
  schedules: { slug: string; everyMinutes: number; takesTime: boolean }[];
  /** By connection: the addresses of the service's pages, with `{id}`. */
  web: Record<string, Record<string, string>>;
}

const text = z.string().trim().min(1).max(300);

/** `POST /api/operate`: what an operator does apart from decisions about jobs. Answers {@link ActionOutcome}. */
export const relayAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('resume'), connection: text }),
  /** `steal`: even if the relay made the defect for another issue or job. */
  z.object({ do: z.literal('set link'), issue: text, defectId: text, steal: z.boolean() }),
  z.object({ do: z.literal('clear link'), issue: text }),
  z.object({ do: z.literal('move link'), issue: text, to: text }),
  /** `at`: as of that time. */
  z.object({ do: z.literal('run schedule'), schedule: text, at: z.number().exactOptional() }),
]);
export type RelayAction = z.output<typeof relayAction>;

/** What an action did. */
export interface ActionOutcome {
  text: string;
  /** The ids of the jobs that it made. */
  jobs?: string[];
  /** What the function of a schedule returned. */
  result?: unknown;
}

/** `GET /api/ignored`: the newest events that no job was made of, the newest first. Only on one machine. */
export interface Ignored {
  events: { timestamp: string; event: string; deliveryId: string; reason: string }[];
}

/** `GET /api/now` */
export interface Now {
  at: number;
  connections: ConnectionNow[];
  /** The number of jobs of each status, up to a limit. */
  counts: Record<JobStatus, Count>;
  /** Says that the stage is stopped, and nothing works on its jobs. Null if it is not, or nobody knows. */
  stopped: string | null;
}

export interface Count {
  jobs: number;
  /** True if there are more than `jobs`. */
  more: boolean;
}

export interface ConnectionNow {
  connection: string;
  /** Where it calls. Undefined if this console may not read the secret that says so. */
  service?: string;
  minute: { used: number; limit: number };
  day: { used: number; limit: number };
  /** The calls of each ten minutes of the last day, oldest first. */
  dayCalls: number[];
  /** When the day's limit is used up at the pace of the last hour; null if it is not. */
  dayUsedUpAt: number | null;
  pausedUntil: number | null;
  /** If the service seems to allow fewer calls a minute than configured: how many, and since when that is known. */
  assumed: { perMinute: number; since: number } | null;
  /** Open breakers; without an operation, the whole connection is stopped. */
  stopped: Stopped[];
  lanes: LaneNow[];
}

export interface Stopped {
  operation?: string;
  since: number;
  why: string;
  /** When the next probe may be sent. */
  probeAt: number;
  /** The service refuses the key, until an operator enters another one. */
  refusesKey?: boolean;
}

export interface LaneNow {
  lane: Lane;
  /** Calls that can be sent at once. */
  left: number;
  /** When the next slot is free; null if unknown. */
  nextSlotAt: number | null;
  /** Jobs in the waiting line. */
  inLine: Count;
  /** When the oldest job in the waiting line was created; null for an empty line. */
  oldestSince: number | null;
  /** Jobs in the queue, which wait for a worker and not for the budget. */
  queued: Count;
  /** When the oldest of them was created; null for none. */
  queuedSince: number | null;
}

/**
 * `GET /api/jobs?status=&automation=&subject=&person=&connection=&lane=&delivery=&text=&since=&until=&cursor=`. Filters are
 * combined with and. The server reads the index page by page and answers after a bounded number of pages, so an answer
 * can have a cursor and no jobs.
 */
export interface JobPage {
  jobs: JobRow[];
  /** Where to go on; undefined at the end. */
  cursor?: string;
  /** How many jobs were read for this page. */
  read: number;
}

export interface JobRow {
  id: string;
  /** A part of the id, as terminal and messages show it. */
  shortName: string;
  status: JobStatus;
  automation: string;
  connection: string;
  lane: Lane;
  /** The event in one line. */
  summary: string;
  subject: string;
  person?: string;
  createdAt: number;
  finishedAt?: number;
  /** How long it waited for a person, in milliseconds. That is not part of how long it took. Missing if not at all. */
  personMs?: number;
  /** What came of it, or why it waits or is parked. */
  news: string;
  notDone?: boolean;
  discarded?: boolean;
  outcomeUnknown?: boolean;
  /** While it waits: until when, if known. */
  until?: number;
  /** Whether that time is a forecast. */
  isForecast?: true;
}

/** `GET /api/jobs/<id>` */
export interface JobDetail extends JobRow {
  attempts: number;
  generation: number;
  delivery?: string;
  /** What it was made from: `github` `issues.opened`. */
  cause?: { from: 'github' | 'slack' | 'schedule' | 'job'; id: string; event?: string };
  /** The automation's input, without secrets. */
  input: Record<string, unknown>;
  steps: StepDetail[];
  /** Every period of the job, in order and without gaps, for the waterfall. */
  periods: Period[];
  /** What operators did. */
  decisions: OperatorDecision[];
  next: NextStep;
  /** For a job that is parked with an unknown outcome. */
  openCreations?: CreationDetail[];
}

export interface StepDetail {
  step: string;
  /** The target of the call: `defects/create`, `GitHub comment`. */
  calls: string;
  status: 'begun' | 'done' | 'skipped' | 'failed';
  startedAt: number;
  finishedAt?: number;
  result?: unknown;
  note?: string;
  /** When it continued after a wait or a decision. Its last run took from then until `finishedAt`. */
  resumedAt?: number;
  /** What settled the outcome of a creation whose answer was lost. */
  settledBy?: string;
  sends: Send[];
  /** How many sends before these are not kept. */
  olderSends: number;
}

/** One request of a step. */
export interface Send {
  /** What was called, if it is not what the step calls: the list that is searched for a lost creation. */
  calls?: string;
  sentAt: number;
  /** When the answer came, or the relay stopped waiting for one. */
  answeredAt?: number;
  /**
   * `open`: nothing came yet. `lost`: no answer came, so it is unknown whether it was carried out. `unclear`: the answer
   * does not say whether it was (5xx, not readable). `not sent`: it never left.
   */
  answer: 'open' | 'accepted' | 'refused' | 'lost' | 'unclear' | 'not sent';
  httpStatus?: number;
  why?: string;
  /** True if these are the signed bytes of an earlier send. */
  sameBytes?: boolean;
}

export interface Period {
  /** The step that it belongs to; undefined between steps. */
  step?: string;
  from: number;
  /** Undefined if it lasts. */
  to?: number;
  is: 'queue' | 'work' | 'budget' | 'flight' | 'retry' | 'sleep' | 'outage' | 'operator';
  why?: string;
}

export interface OperatorDecision {
  at: number;
  by: string;
  /** `replayed`, `discarded`, `resolved: carried out as 42`. */
  what: string;
  reason?: string;
}

/** What to do next, as everywhere else in Partner Relay. */
export interface NextStep {
  /** One sentence. */
  text: string;
  /** The changes that are possible now. */
  actions: JobAction['do'][];
  /** The section that explains the state: `docs/stuck.md#waiting`. */
  docs?: string;
}

/** What is known about a creation without an answer. */
export interface CreationDetail {
  step: string;
  calls: string;
  sends: Send[];
  /** The text that the created object would contain. */
  marker?: string;
  /** An operator decided to create it again. */
  again: boolean;
  /** What speaks for and against that it was carried out, in one sentence. */
  forAndAgainst: string;
  /** What each decision will do, in one sentence. */
  consequences: { done: string; again: string; search: string };
}

/** `POST /api/jobs/<id>`, and `POST /api/jobs` with `{ ids, ...action }` for several. Answers {@link ActionResult}. */
export const jobAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('replay') }),
  z.object({ do: z.literal('discard'), reason: z.string().trim().min(1, 'a reason is needed').max(1_000) }),
  z.object({ do: z.literal('done'), createdId: z.string().trim().min(1).max(200) }),
  z.object({ do: z.literal('again') }),
  z.object({ do: z.literal('search') }),
]);
export type JobAction = z.output<typeof jobAction>;

export interface ActionResult {
  /** For each job: what happened, or why nothing did. */
  results: { id: string; ok: boolean; text: string }[];
}

/** `GET /api/parked` */
export interface ParkedGroups {
  groups: {
    /** The reason without its variable parts. */
    reason: string;
    outcomeUnknown: boolean;
    /** What will help, in one sentence. */
    help: string;
    jobs: JobRow[];
  }[];
  more: boolean;
}

/** `GET /api/links?find=owner/name%2342` */
export interface LinkRow {
  /** `acme/web#42` */
  issue: string;
  entity: string;
  title?: string;
  life: 'unclaimed' | 'claimed' | 'made' | 'moved' | 'unreadable';
  connection?: string;
  defectId?: string;
  /** The job that creates the defect, or created it. */
  claimedBy?: string;
  /** Why a claimed issue gets no defect at the moment: what its job is. */
  claimRests?: 'parked' | 'discarded' | 'gone';
  movedTo?: string;
  /** When the issue last changed on GitHub, as far as the relay was told. */
  changedAt?: number;
}

export interface LinkPage {
  links: LinkRow[];
  cursor?: string;
}

/**
 * `GET /api/changes`: a stream of JSON lines, while the page is visible. Each line says which jobs changed, or that
 * the numbers of the screen Now did.
 */
export type LiveChange = { jobs: string[] } | { now: true };

/** `GET /api/try`: what the screen Try offers on one machine. */
export interface TryFacts {
  /** The example events: `send issues`, `send slack '/pm log …'`. */
  examples: TryExample[];
  /** The messages of the Slack stand-in, newest first, as Block Kit. */
  messages: SlackMessage[];
  faults: SandboxFault[];
  /** What can be broken, with an example. */
  faultKinds: { title: string; fault: Record<string, unknown> }[];
  records: { kind: string; rows: Record<string, unknown>[] }[];
  audit: { at: number; operation: string; answer: string }[];
}

export interface TryExample {
  id: string;
  title: string;
  /** What to send it as: the name of GitHub's event, or undefined for a command in Slack. */
  event?: string;
  /** The payload as JSON, or the command. */
  body: string;
}

export interface SlackMessage {
  channel: string;
  ts: string;
  to: string;
  text: string;
  blocks: Record<string, unknown>[];
}

export interface SandboxFault {
  id: string;
  title: string;
  fault: Record<string, unknown>;
}

/** `POST /api/try`. Answers {@link ActionOutcome}. */
export const tryAction = z.discriminatedUnion('do', [
  z.object({ do: z.literal('send event'), event: z.string().regex(/^[a-z_]+$/), body: z.string() }),
  z.object({ do: z.literal('send command'), text: z.string().max(4_000), user: z.string().exactOptional() }),
  z.object({
    do: z.literal('press'),
    channel: z.string(),
    ts: z.string(),
    actionId: z.string(),
    value: z.string().exactOptional(),
  }),
  z.object({ do: z.literal('set fault'), fault: z.record(z.string(), z.unknown()) }),
  z.object({ do: z.literal('clear fault'), id: z.string() }),
]);
export type TryAction = z.output<typeof tryAction>;
