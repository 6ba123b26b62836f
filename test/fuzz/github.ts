import { issueEvent } from '../issue-events.ts';
import type { VirtualClock } from './clock.ts';

export const REPOSITORIES = ['Codertocat/Hello-World', 'Codertocat/Other'] as const;

/** What happens to an issue on GitHub. */
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

/** An issue as GitHub has it now. */
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

/** A webhook delivery, which GitHub keeps until it was answered with 2xx. */
export interface Delivery {
  /** Which issue it is about; a transferred issue stays the same. */
  issue: number;
  payload: object;
  /** Whether it arrived at least once. */
  wasSent: boolean;
  isAccepted: boolean;
}

/** GitHub's issues, and the deliveries of what happens to them. */
export class Github {
  readonly issues: Issue[] = [];
  readonly deliveries: Delivery[] = [];
  /** Whether the relay's credentials let it read issues. */
  isReadable = true;
  readonly #clock: VirtualClock;
  #ids = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /**
   * @param place of the issue, counted from 0
   * @returns the deliveries of it; none for what cannot happen to the issue
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

  /** The issue's place by GitHub's id, if that is its id now. */
  at(id: number): Issue | undefined {
    return this.issues.find((issue) => issue.id === id && !issue.isDeleted);
  }

  /** GitHub's REST API, as far as the relay uses it. */
  answer({ pathname, searchParams }: URL): Response {
    const [, owner, name, number] = /^\/repos\/([^/]+)\/([^/]+)\/issues(?:\/(\d+))?$/.exec(pathname) ?? [];
    const repository = `${owner}/${name}`;
    const there = this.issues.filter((issue) => issue.repository === repository && !issue.isDeleted);
    if (number !== undefined) {
      // A transferred issue is answered as it is now, after a redirect.
      const place = this.isReadable && this.#placeOf(Number(number));
      const issue = place && this.issues[place.issue];
      if (!issue) return Response.json({}, { status: 404 });
      return issue.isDeleted ? Response.json({}, { status: 410 }) : Response.json(payloadOf('read', issue).issue);
    }
    const since = Date.parse(searchParams.get('since') ?? '1970-01-01T00:00:00Z');
    const listed = there
      .filter(({ isClosed, updatedAt }) => updatedAt >= since && !(isClosed && searchParams.get('state') === 'open'))
      .sort((a, b) => a.updatedAt - b.updatedAt);
    return Response.json(listed.map((issue) => payloadOf('read', issue).issue));
  }

  #placeOf(id: number): Delivery | undefined {
    return this.deliveries.find(({ payload }) => (payload as { issue: { number: number } }).issue.number === id);
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
    const delivery = { issue: this.issues.indexOf(issue), payload, wasSent: false, isAccepted: false };
    this.deliveries.push(delivery);
    return delivery;
  }
}

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
