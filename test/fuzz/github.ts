import { checklistItemJobs } from '../../lib/automations/complete-checklist-item/jobs.ts';
import { attemptOf, testRunJobs } from '../../lib/automations/tests-to-scenarios/jobs.ts';
import { jobId } from '../../lib/engine/record/job.ts';
import { notFound } from '../../local/github/answer.ts';
import { type Between, createGithubStandIn, type KnownIssue } from '../../local/github/stand-in.ts';
import { issueEvent } from '../issue-events.ts';
import { commentPayload, mergedPayload, pullPayload } from '../kill/github-payloads.ts';
import { archiveOf, idOf, junit, workflowRun } from '../workflow-runs.ts';
import type { VirtualClock } from './clock.ts';

export const REPOSITORIES = ['Codertocat/Hello-World', 'Codertocat/Other'] as const;

/** Events of an issue on GitHub. */
export const happenings = [
  'opened',
  'edited title',
  'edited body',
  'labeled',
  'unlabeled',
  'closed',
  'reopened',
  'transferred',
  'deleted',
] as const;
export type Happening = (typeof happenings)[number];

/** The current state of an issue on GitHub. */
export interface Issue {
  id: number;
  repository: string;
  title: string;
  body: string;
  isBug: boolean;
  isClosed: boolean;
  isDeleted: boolean;
  /** Epoch milliseconds, whole seconds. */
  updatedAt: number;
  /** How often each part of its defect has changed. */
  changes: { title: number; description: number };
}

/** A webhook delivery. Its sender keeps it until it is answered with 2xx. */
export interface Delivery {
  /** An event of GitHub, or an alert or incident of another tool. */
  event: 'issues' | 'issue_comment' | 'pull_request' | 'workflow_run' | 'release' | 'alert' | 'incident';
  /** The issue of the delivery, which stays the same after a transfer; undefined for other events. */
  issue: number | undefined;
  payload: object;
  /** Whether it arrived at least once. */
  wasSent: boolean;
  isAccepted: boolean;
}

export interface RunEnd {
  workflow: string;
  hasFailed: boolean;
  isSameCommit: boolean;
}

export interface PullChange {
  which: number;
  head: number;
  /** Whether the pull request's text names a task. */
  isTracked: boolean;
  isOpen: boolean;
}

export const WORKFLOWS = ['ci.yml', 'nightly.yml'] as const;
export const SCENARIO = 'f3c9d5e8-7a14-4d60-9b2f-2e8a1c6b4d01';
export const TASK = 'd94e6b20-1f73-4a5c-b8e2-0c7f3a9d5e01';
/** Higher than any issue's number. */
const FIRST_PAGE = 500;
const archives = {
  passed: await archiveOf({ 'report.xml': junit({ scenario: SCENARIO }) }),
  failed: await archiveOf({ 'report.xml': junit({ scenario: SCENARIO, result: 'failure' }) }),
};

/** GitHub's issues, pull requests and workflow runs, and the deliveries of their events. */
export class Github {
  readonly issues: Issue[] = [];
  readonly deliveries: Delivery[] = [];
  /** When people asked for checklist items, by the job's id; epoch milliseconds, whole seconds. */
  readonly asked = new Map<string, number>();
  /** Finished workflow runs and their jobs, oldest first. */
  readonly runs: (Pick<RunEnd, 'workflow' | 'hasFailed'> & { job: string; commit: number })[] = [];
  readonly standIn: ReturnType<typeof createGithubStandIn>;
  /** Whether the relay's credentials allow it to read issues. */
  isReadable = true;
  readonly #clock: VirtualClock;
  #ids = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    const options = { clock: () => clock.now, isValid: () => true, installationToken: 'ghs_test' };
    const between: Between = ({ route }, answer) =>
      !this.isReadable && /\/issues\/\d+$/.test(route) ? notFound : answer();
    this.standIn = createGithubStandIn({ ...options, between }, 'https://api.github.com');
  }

  /** A comment, or the merge of a pull request, asks for checklist items. */
  asks(from: 'comment' | 'merge', isDone: boolean, items: readonly number[]): Delivery[] {
    const [number, at] = [FIRST_PAGE + this.asked.size, this.#stamp()];
    const isComment = from === 'comment';
    const line = `/${isDone ? 'done' : 'undo'} ${items.join(' ')}`;
    const happened = isComment ? [600_000 + number, line] : ['pull request', 700_000 + number];
    this.asked.set(jobId(checklistItemJobs.name, ...happened), Date.parse(at));
    if (isComment) {
      const payload = commentPayload(number, line);
      return [this.#tell('issue_comment', { ...payload, comment: { ...Object(payload.comment), created_at: at } })];
    }
    const payload = mergedPayload(number, items.map((item) => `Completes checklist item ${item}`).join('\n'));
    return [this.#tell('pull_request', { ...payload, pull_request: { ...payload.pull_request, merged_at: at } })];
  }

  /** A workflow run ends, on the same commit as the last or on the next one. */
  ends({ workflow, hasFailed, isSameCommit }: RunEnd): Delivery[] {
    const number = this.runs.length + 1;
    const last = this.runs.at(-1)?.commit ?? 0;
    const commit = isSameCommit && last > 0 ? last : number;
    const [createdAt, id] = [this.#stamp(), idOf(number)];
    const conclusion = hasFailed ? 'failure' : 'success';
    const payload = workflowRun({ number, file: workflow, conclusion, createdAt, branch: 'master' });
    Object.assign(payload.workflow_run as object, { updated_at: createdAt, head_sha: shaOf(commit) });
    const archive = archives[hasFailed ? 'failed' : 'passed'];
    this.standIn.known.artifacts.set(number, { runId: id, name: 'junit', createdAt, archive });
    this.runs.push({ job: jobId(testRunJobs.name, ...attemptOf({ id, run_attempt: 1 })), workflow, commit, hasFailed });
    return [this.#tell('workflow_run', payload)];
  }

  /** A pull request is opened or closed, or its text or head changes. */
  changesPull({ which, head, isTracked, isOpen }: PullChange): Delivery[] {
    const { pulls } = this.standIn.known;
    const [number, updated_at] = [FIRST_PAGE - 1 - which, this.#stamp()];
    const name = `${REPOSITORIES[0]}#${number}`;
    const last = pulls.get(name) as { head: { sha: string }; state: string } | undefined;
    const sha = shaOf(FIRST_PAGE + head);
    const example = pullPayload(number, isTracked ? `Task: ${TASK}` : 'Nothing.');
    const pull_request = { ...example.pull_request, head: { sha }, updated_at, state: isOpen ? 'open' : 'closed' };
    if (!last && !isOpen) return [];
    pulls.set(name, pull_request);
    const isMoved = last && last.head.sha !== sha;
    const changed = isMoved ? 'synchronize' : 'edited';
    const action = !last ? 'opened' : !isOpen ? 'closed' : last.state === 'closed' ? 'reopened' : changed;
    return [
      this.#tell('pull_request', { ...example, action, pull_request, ...(isMoved && { before: last.head.sha }) }),
    ];
  }

  /**
   * Changes an issue.
   *
   * @param place of the issue, counted from 0
   * @returns its deliveries; empty if the event is not possible for this issue
   */
  happens(what: Happening, place: number): Delivery[] {
    const issue = this.issues[place];
    if (!issue || what === 'opened') return issue ? [] : this.#open(what !== 'unlabeled');
    if (issue.isDeleted || !canHappen(what, issue)) return [];
    const old = { ...issue };
    issue.updatedAt = Math.max(issue.updatedAt, Math.floor(this.#clock.now / 1_000) * 1_000);
    if (what === 'transferred') return this.#transfer(issue, old);
    const count = issue.changes.title + issue.changes.description + 1;
    if (what === 'edited title') issue.title = `title ${count}`;
    if (what === 'edited body') issue.body = `body ${count}`;
    if (what === 'labeled' || what === 'unlabeled') issue.isBug = what === 'labeled';
    if (what === 'closed' || what === 'reopened') issue.isClosed = what === 'closed';
    if (what === 'deleted') issue.isDeleted = true;
    else if (what === 'edited title') issue.changes.title++;
    else issue.changes.description++;
    return [this.#deliver(issue, payloadOf(what.split(' ', 1)[0] ?? '', issue))];
  }

  /** The issue with this id at GitHub, if it still has this id. */
  at(id: number): Issue | undefined {
    return this.issues.find((issue) => issue.id === id && !issue.isDeleted);
  }

  #stamp(): string {
    return new Date(Math.floor(this.#clock.now / 1_000) * 1_000).toISOString().replace('.000', '');
  }

  #open(isBug: boolean): Delivery[] {
    const issue: Issue = {
      id: ++this.#ids,
      repository: REPOSITORIES[0],
      title: 'title 0',
      body: 'body 0',
      isBug,
      isClosed: false,
      isDeleted: false,
      updatedAt: Math.floor(this.#clock.now / 1_000) * 1_000,
      changes: { title: 0, description: 0 },
    };
    this.issues.push(issue);
    return [this.#deliver(issue, payloadOf('opened', issue))];
  }

  #transfer(issue: Issue, old: Issue): Delivery[] {
    issue.id = ++this.#ids;
    issue.repository = REPOSITORIES.find((name) => name !== old.repository) ?? '';
    issue.changes.description++;
    this.standIn.known.issues.delete(nameOf(old));
    this.standIn.known.gone.set(nameOf(old), { to: nameOf(issue) });
    const there = payloadOf('opened', issue);
    const here = payloadOf('transferred', old);
    const { issue: old_issue, repository: old_repository } = here;
    const { issue: new_issue, repository: new_repository } = there;
    return [
      this.#deliver(issue, { ...here, changes: { new_issue, new_repository } }),
      this.#deliver(issue, { ...there, changes: { old_issue, old_repository } }),
    ];
  }

  #deliver(issue: Issue, payload: object): Delivery {
    const { issues, gone } = this.standIn.known;
    if (issue.isDeleted) {
      issues.delete(nameOf(issue));
      gone.set(nameOf(issue), {});
    } else issues.set(nameOf(issue), payloadOf('read', issue).issue as unknown as KnownIssue);
    return this.#tell('issues', payload, this.issues.indexOf(issue));
  }

  #tell(event: Delivery['event'], payload: object, issue?: number): Delivery {
    const delivery = { event, issue, payload, wasSent: false, isAccepted: false };
    this.deliveries.push(delivery);
    return delivery;
  }
}

const nameOf = ({ repository, id }: Issue) => `${repository}#${id}`;

const shaOf = (commit: number) => String(commit).padStart(40, 'a');

function canHappen(what: Happening, { isBug, isClosed }: Issue): boolean {
  if (what === 'labeled') return !isBug;
  if (what === 'unlabeled') return isBug;
  if (what === 'closed') return !isClosed;
  return what !== 'reopened' || isClosed;
}

function payloadOf(action: string, issue: Issue) {
  const { id, repository, title, body, isBug, isClosed, updatedAt } = issue;
  return issueEvent(action, {
    id,
    repository,
    title,
    body,
    from: updatedAt,
    labels: isBug ? ['bug'] : [],
    state: isClosed ? 'closed' : 'open',
  }) as ReturnType<typeof issueEvent> & { repository: object };
}
