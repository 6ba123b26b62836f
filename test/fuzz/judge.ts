import { issueJobs } from '../../lib/automations/issue-to-defect/jobs.ts';
import { relateJobs } from '../../lib/automations/relate/jobs.ts';
import { digest } from '../../lib/digest.ts';
import { isOutcomeUnknown, isOver, type Job, newsOf } from '../../lib/engine/record/job.ts';
import { openJournal } from '../../lib/engine/record/journal.ts';
import { fromItem } from '../../lib/links/link-item.ts';
import type { Link } from '../../lib/links/link-life.ts';
import { createBudget } from '../../lib/service/budget/budget.ts';
import { callsIn } from '../../lib/service/budget/window.ts';
import { keys } from '../../lib/state/table/keys.ts';
import type { Defect } from '../../sandbox/records.ts';
import type { Issue } from './github.ts';
import { isLinked, linkedTwice, notAsAsked } from './last-asked.ts';
import type { World } from './world.ts';

const CLOCK_ERROR_MS = 400;
const LIVE = ['queued', 'running', 'waiting'];

/** What a person wrote into a defect while nothing else was going on. */
interface Edit {
  defect: string;
  field: 'title' | 'description';
  value: string;
  issue: Issue;
  /** How often the issue's own value had changed. */
  changes: number;
}

/** Holds what there is against what is promised. */
export class Judge {
  readonly #world: World;
  /** The issues that a person decided something about that explains a missing, a second or an old defect. */
  readonly #decided = new Set<Issue>();
  /** How many jobs the issue had by then. */
  readonly #discarded = new Map<Issue, { entity: string | undefined; jobs: number }>();
  readonly #edits: Edit[] = [];
  readonly #seeded: number;
  /** The leases that were seen last. */
  #leases: ({ id: string } & NonNullable<Job['lease']>)[] = [];
  /** The jobs that were over when they were seen last, by when they were made. */
  #over = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    this.#seeded = world.service.data.defects.length;
  }

  /** `owner/name#number` */
  nameOf({ repository, id }: Issue): string {
    return `${repository}#${id}`;
  }

  /** A person decided about the link of an issue. */
  notePerson(issues: readonly Issue[]): void {
    for (const issue of issues) this.#decided.add(issue);
  }

  /**
   * A person gave up what a job had to do. The next event of the issue does it. Of two defects that the job named, only
   * one of the issue's last place tells again.
   */
  noteDiscard(job: Job): void {
    const issue = this.#issueOf(job);
    const entity = this.#isConflict(job) ? job.entity : undefined;
    if (issue) this.#discarded.set(issue, { entity, jobs: this.#jobsOf(issue, entity).length });
  }

  links(): string {
    return JSON.stringify(this.#world.items().filter(({ sk }) => sk === 'link'));
  }

  #isDiscarded(issue: Issue): boolean {
    const last = this.#discarded.get(issue);
    return last !== undefined && last.jobs === this.#jobsOf(issue, last.entity).length;
  }

  /** @param entity of one of its places; without it, of all */
  #jobsOf(issue: Issue, entity?: string): Job[] {
    const jobs = this.#world.jobs().filter((job) => this.#issueOf(job) === issue);
    return entity === undefined ? jobs : jobs.filter((job) => job.entity === entity);
  }

  parked(): Job[] {
    return this.#world.jobs().filter(({ status }) => status === 'parked');
  }

  /** A run goes on, and may end. */
  noteResumed(): void {
    this.#leases = [];
  }

  /** What a parked job has created, as its open request or an earlier decision says; of a link, the operation. */
  async madeBy(job: Job): Promise<string | undefined> {
    const { table, clock } = this.#world.stores;
    if (job.automation === relateJobs.name) return isLinked(job, this.#world) ? 'defects/link' : undefined;
    const journal = await openJournal(table, job.id, clock);
    const markers = journal.openSteps().map((step) => journal.openRequest(step)?.found?.marker ?? step);
    const decided = journal.entries().map(({ result }) => (result as { id?: unknown } | undefined)?.id);
    return this.made().find(
      ({ defect_id, description }) =>
        decided.includes(defect_id) || markers.some((marker) => description.includes(marker)),
    )?.defect_id;
  }

  /** A person changes a defect, if the relay has nothing to do. */
  editDefect(which: number, field: 'title' | 'description'): void {
    const isBusy = this.#world.jobs().some((job) => !isOver(job));
    const isComing = this.#world.github.deliveries.some(({ isAccepted }) => !isAccepted);
    if (isBusy || isComing || this.#world.stalled.length > 0 || this.#world.clock.hasMore) return;
    const tied = this.#world.github.issues.flatMap((issue) => {
      const link = this.#linkOf(issue);
      return link?.life === 'made' && link.defect.applied && !link.defect.updating
        ? [{ issue, id: String(link.defect.id) }]
        : [];
    });
    const { issue, id } = tied[which % tied.length] ?? {};
    const defect = this.made().find(({ defect_id }) => defect_id === id);
    if (!issue || !defect) return;
    const value = field === 'title' ? 'as a person wants it' : `As a person wants it.\n${markerOf(defect)}`;
    defect[field] = value;
    this.#edits.push({ defect: defect.defect_id, field, value, issue, changes: issue.changes[field] });
  }

  /** What must hold at every moment. */
  async now(): Promise<string[]> {
    const { bugs, service } = this.#world;
    return [
      ...bugs.map((bug) => `a bug: ${bug.slice(0, 600)}`),
      ...service.wrong,
      ...(await this.#uncounted()),
      ...this.#takenAway(),
      ...this.#goesOn(),
      ...linkedTwice(this.#world),
      ...this.#world.team.wrong(this.made(), (incident) => this.#turnOf(incident)),
      ...this.#doubled(),
      ...this.#irresponsible(),
    ];
  }

  /** What must hold once everything has come and nothing is under way. */
  whileParked(): string[] {
    if (this.parked().length > 0) return [];
    return this.atTheEnd();
  }

  /** What must hold once nothing is left to decide. */
  atTheEnd(): string[] {
    const wrong = this.parked().flatMap((job) =>
      this.#isConflict(job) ? [] : [`${job.id} is parked again: ${job.parked?.reason}`],
    );
    return [
      ...wrong,
      ...this.#unanswered(),
      ...notAsAsked(this.#world),
      ...this.#world.team.lost(this.#world.jobs(), this.made()),
      ...this.#world.github.issues.flatMap((issue) => this.#wrongOf(issue)),
      ...this.#overwritten(),
    ];
  }

  summary(): string {
    const jobs = this.#world
      .jobs()
      .map((job) => `${job.id.slice(-6)} ${job.status}${job.generation > 1 ? job.generation : ''} ${newsOf(job)}`);
    const links = this.#world.github.issues.map(
      (issue) => `${this.nameOf(issue)} ${JSON.stringify({ ...this.#linkOf(issue), newest: undefined })}`,
    );
    return `${this.#world.clock.now % 86_400_000} ${this.made().length} defects; ${links.join(', ')}; ${jobs.join(', ')}`;
  }

  /** The defects that the relay has made. */
  made(): Defect[] {
    return this.#world.service.data.defects.slice(this.#seeded);
  }

  /** How often an incident was let go. */
  #turnOf(incident: string): number {
    const { pk } = keys.made('main', 'incident', digest(incident));
    return Number(this.#world.items().find((item) => item.pk === pk)?.turn ?? 0);
  }

  #link(entity: string): Link | undefined {
    const item = this.#world.items().find(({ pk, sk }) => pk === `link#${entity}` || (sk === 'link' && pk === entity));
    return item && fromItem(item, this.#world.clock.now);
  }

  #linkOf({ id }: Issue): Link | undefined {
    return this.#link(`issue-${9_000 + id}`);
  }

  #issueOf(job: Job): Issue | undefined {
    if (job.automation !== issueJobs.name) return undefined;
    const { entity } = issueJobs.inputOf(job);
    const told = this.#world.github.deliveries.find(
      ({ issue, payload }) =>
        issue !== undefined && entity === `issue-${(payload as { issue: { id: number } }).issue.id}`,
    );
    return this.#world.github.issues[told?.issue ?? -1];
  }

  /** Calls that the service counts and the budget does not. Nothing but chance would keep such a budget within the limit. */
  async #uncounted(): Promise<string[]> {
    const { service, stores } = this.#world;
    const used = service.used();
    const booked = await createBudget(stores).windows('main');
    return (['minute', 'day'] as const).flatMap((window) =>
      callsIn(booked[window]) < used[window]
        ? [`the budget counts ${callsIn(booked[window])} of the ${used[window]} calls of the last ${window}`]
        : [],
    );
  }

  /** Nobody takes a job over from a run that stands still or has died, while its lease lasts. */
  #takenAway(): string[] {
    const before = this.#leases;
    const jobs = this.#world.jobs();
    this.#leases = jobs.flatMap(({ id, lease }) => (lease ? [{ ...lease, id }] : []));
    return before.flatMap(({ id, owner, until }) => {
      const lasts = until > this.#world.clock.now + CLOCK_ERROR_MS;
      const isHeld = jobs.some((job) => job.id === id && job.lease?.owner === owner);
      return lasts && !isHeld ? [`${id} was taken over before its lease ended`] : [];
    });
  }

  /** What is over stays over, until its record has expired. */
  #goesOn(): string[] {
    const before = this.#over;
    const jobs = this.#world.jobs();
    this.#over = new Map(jobs.filter(isOver).map(({ id, createdAt }) => [id, createdAt]));
    return jobs.flatMap((job) => {
      const wasOver = before.get(job.id) === job.createdAt;
      return wasOver && !isOver(job) ? [`${job.id} was over and is ${job.status} again`] : [];
    });
  }

  #doubled(): string[] {
    const byMarker = Map.groupBy(this.made(), markerOf);
    // An issue that a person gave another one's defect writes its own marker into that.
    const twice = this.#decided.size > 0 ? [] : [...byMarker].filter(([, { length }]) => length > 1);
    const ofIssues = this.#world.github.issues.flatMap((issue) => {
      if (this.#decided.has(issue)) return [];
      const made = this.made().filter((defect) => this.#isOf(defect, issue));
      const isToldOf = this.#isDiscarded(issue) && this.#discarded.get(issue)?.entity !== undefined;
      if (this.#isComing(issue) || isToldOf || this.#isConflictOf(made)) return [];
      return made.length > 1 ? [`${made.length} defects of ${this.nameOf(issue)}`] : [];
    });
    const ofCommands = this.#world.slack.typed.flatMap(({ title }) =>
      this.made().filter((defect) => defect.title === title).length > 1 ? [`two defects of ${title}`] : [],
    );
    const { slack } = this.#world;
    const toldTwice = slack.ids().filter((id, index, all) => all.indexOf(id) !== index);
    return [
      ...ofCommands,
      ...toldTwice.map((id) => `the message ${id} was sent twice`),
      ...twice.map(([marker, { length }]) => `${length} defects with the marker ${marker}`),
      ...ofIssues,
    ];
  }

  /** Whether more is to be done about an issue: until then a transfer may be unknown. */
  #isComing(issue: Issue): boolean {
    const place = this.#world.github.issues.indexOf(issue);
    return (
      this.#world.github.deliveries.some((one) => one.issue === place && !one.isAccepted) ||
      this.#jobsOf(issue).some(isOpen)
    );
  }

  /** Defects of one issue, which only a person can join, are named to that person, each beside another. */
  #isConflictOf(defects: readonly Defect[]): boolean {
    const conflicts = this.parked().filter((job) => this.#isConflict(job));
    return defects.every(({ defect_id }) => conflicts.some(({ parked }) => parked?.reason.includes(defect_id)));
  }

  /** By the names that the issue had; a person may have changed the text. */
  #isOf({ description }: Defect, issue: Issue): boolean {
    const place = this.#world.github.issues.indexOf(issue);
    return this.#world.github.deliveries.some(({ issue, payload }) => {
      return (
        issue === place && description.includes(`${(payload as { issue: { html_url: string } }).issue.html_url}\n`)
      );
    });
  }

  /** The issues that should have a defect and have none, although no job is at work or left to a person. */
  #irresponsible(): string[] {
    return this.#world.github.issues.flatMap((issue, place) => {
      if (this.#decided.has(issue) || this.#isDiscarded(issue) || issue.isDeleted) return [];
      const deliveries = this.#world.github.deliveries.filter((one) => one.issue === place);
      if (deliveries.some(({ isAccepted }) => !isAccepted) || !issue.isBug) return [];
      const link = this.#linkOf(issue);
      if (link?.life === 'made') return [];
      const isHeld = this.#jobsOf(issue).some((job) => !isOver(job));
      return isHeld ? [] : [`no defect of ${this.nameOf(issue)}, and no job for it; its link is ${link?.life}`];
    });
  }

  #wrongOf(issue: Issue): string[] {
    if (this.#decided.has(issue) || issue.isDeleted) return [];
    const wrong: string[] = [];
    const link = this.#linkOf(issue);
    const [defect] = this.made().filter((one) => this.#isOf(one, issue));
    const edits = this.#edits.filter((edit) => edit.issue === issue);
    const name = this.nameOf(issue);
    if (!defect && edits.some(({ field }) => field === 'description')) return [];
    if (!defect) return issue.isBug && !this.#isDiscarded(issue) ? [`no defect of ${name}`] : [];
    if (this.#isDiscarded(issue)) return [];
    if (this.parked().some((job) => this.#issueOf(job) === issue)) return [];
    if (link?.life !== 'made' || link.defect.id !== defect.defect_id)
      wrong.push(`the link of ${name} is ${link?.life}`);
    if (!this.#world.github.isReadable) return wrong;
    const isEdited = (field: string) => edits.some((edit) => edit.field === field);
    if (!isEdited('title') && defect.title !== issue.title) {
      wrong.push(`the title of ${name} is ${defect.title} instead of ${issue.title}`);
    }
    if (isEdited('description')) return wrong;
    const { description } = defect;
    const looks = [
      [/State: (\w+)/.exec(description)?.[1], issue.isClosed ? 'closed' : 'open'],
      [description.includes('No longer labelled'), !issue.isBug],
      [description.split('\n')[0], issue.body],
      [/GitHub issue (\S+)/.exec(description)?.[1], name],
    ];
    for (const [is, should] of looks) if (is !== should) wrong.push(`${name} looks like ${is} instead of ${should}`);
    return wrong;
  }

  /** A command that was accepted has done its work, or its person was told why not. */
  #unanswered(): string[] {
    const jobs = this.#world.jobs();
    const { told } = this.#world.slack;
    return this.#world.slack.typed.flatMap(({ job: id, title, isAccepted, responseUrl }) => {
      const job = jobs.find((one) => one.id === id);
      if (!job) return isAccepted ? [`the command of ${id} is lost`] : [];
      // Its title changes if a person links an issue with it.
      const isThere =
        title === undefined ||
        this.made().some((defect) => defect.title === title || job.outcome?.includes(defect.defect_id));
      const isTold = told.some(({ url }) => url === responseUrl || url.endsWith('/chat.postMessage'));
      return isThere || (job.status === 'not-done' && isTold)
        ? []
        : [`no defect of ${title}, and no word: ${job.outcome}`];
    });
  }

  #isConflict({ parked }: Job): boolean {
    return this.made().filter(({ defect_id }) => parked?.reason.includes(defect_id)).length > 1;
  }

  /** What a person changed stays until the issue's own value changes. */
  #overwritten(): string[] {
    // Of two states of one second, the one that arrived last counts then, also if GitHub had sent it before.
    if (!this.#world.github.isReadable) return [];
    return this.#edits.flatMap(({ defect: id, field, value, issue, changes }) => {
      if (this.#decided.has(issue) || issue.changes[field] !== changes) return [];
      const defect = this.made().find(({ defect_id }) => defect_id === id);
      const isThere =
        defect?.[field] === value || this.#edits.some((edit) => edit.defect === id && edit.value !== value);
      return isThere ? [] : [`the ${field} of ${this.nameOf(issue)} that a person changed is ${defect?.[field]}`];
    });
  }
}

const isOpen = (job: Job) => LIVE.includes(job.status) || isOutcomeUnknown(job);

const markerOf = ({ description }: Defect) => /\[partner-relay [^\]]*\]/.exec(description)?.[0] ?? description;
