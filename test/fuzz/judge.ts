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

/** A person's change of a defect while the relay had nothing to do. */
interface Edit {
  defect: string;
  field: 'title' | 'description';
  value: string;
  issue: Issue;
  /** How often the issue's own value had changed. */
  changes: number;
}

/** Compares the state with the promises. */
export class Judge {
  readonly #world: World;
  /** The issues for which a person's decision explains a missing, a second or an old defect. */
  readonly #decided = new Set<Issue>();
  /** The issues with a discarded job, and their number of jobs at that time. */
  readonly #discarded = new Map<Issue, { entity: string | undefined; jobs: number }>();
  readonly #edits: Edit[] = [];
  readonly #seeded: number;
  /** The leases at the last reading. */
  #leases: ({ id: string } & NonNullable<Job['lease']>)[] = [];
  /** The jobs that were over at the last reading, with the times of their creation. */
  #over = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    this.#seeded = world.service.data.defects.length;
  }

  /** `owner/name#number` */
  nameOf({ repository, id }: Issue): string {
    return `${repository}#${id}`;
  }

  /** Notes a person's decision about the links of issues. */
  notePerson(issues: readonly Issue[]): void {
    for (const issue of issues) this.#decided.add(issue);
  }

  /**
   * Notes that a person discarded a job. The next event of the issue does the job's work. If the job named two defects,
   * only an event at the issue's last place names them again.
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

  /** @param entity one of the issue's places; by default, all count */
  #jobsOf(issue: Issue, entity?: string): Job[] {
    const jobs = this.#world.jobs().filter((job) => this.#issueOf(job) === issue);
    return entity === undefined ? jobs : jobs.filter((job) => job.entity === entity);
  }

  parked(): Job[] {
    return this.#world.jobs().filter(({ status }) => status === 'parked');
  }

  /** Notes that a stalled run has resumed, and may end. */
  noteResumed(): void {
    this.#leases = [];
  }

  /** What a parked job has created, from its open request or an earlier decision; for a link, the operation. */
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

  /** Checks what must hold at every moment. */
  async now(): Promise<string[]> {
    const { bugs, service } = this.#world;
    return [
      ...bugs.map((bug) => `a bug: ${bug.slice(0, 600)}`),
      ...this.parked().flatMap(({ id, parked }) =>
        parked?.reason.includes('without progress') ? [`${id} is in a loop: ${parked.reason}`] : [],
      ),
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

  /** Checks what must hold when all events have arrived and no job is under way. */
  whileParked(): string[] {
    if (this.parked().length > 0) return [];
    return this.atTheEnd();
  }

  /** Checks what must hold when no decision is left. */
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

  /** The defects that the relay has created. */
  made(): Defect[] {
    return this.#world.service.data.defects.slice(this.#seeded);
  }

  /** How often an incident was released. */
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

  /** Calls that the service counts and the budget does not. With such a budget, only chance would keep the limit. */
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

  /** While the lease of a stalled or dead run lasts, no other run may take the job. */
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

  /** A finished job stays finished, until its record has expired. */
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
    // If a person links an issue to another issue's defect, its marker is written into that defect, too.
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

  /** Whether deliveries or jobs of an issue remain. Until then, the relay may not know of a transfer. */
  #isComing(issue: Issue): boolean {
    const place = this.#world.github.issues.indexOf(issue);
    return (
      this.#world.github.deliveries.some((one) => one.issue === place && !one.isAccepted) ||
      this.#jobsOf(issue).some(isOpen)
    );
  }

  /**
   * Whether each of an issue's defects is named to a person beside another one, because only a person can join them.
   */
  #isConflictOf(defects: readonly Defect[]): boolean {
    const conflicts = this.parked().filter((job) => this.#isConflict(job));
    return defects.every(({ defect_id }) => conflicts.some(({ parked }) => parked?.reason.includes(defect_id)));
  }

  /** Whether the defect names the issue by one of its names. A person may have changed the text. */
  #isOf({ description }: Defect, issue: Issue): boolean {
    const place = this.#world.github.issues.indexOf(issue);
    return this.#world.github.deliveries.some(({ issue, payload }) => {
      return (
        issue === place && description.includes(`${(payload as { issue: { html_url: string } }).issue.html_url}\n`)
      );
    });
  }

  /** The issues that should have a defect but have none, without a job under way or a decision left to a person. */
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

  /** Accepted commands that neither did their work nor told the person why not. */
  #unanswered(): string[] {
    const jobs = this.#world.jobs();
    const { told } = this.#world.slack;
    return this.#world.slack.typed.flatMap(({ job: id, title, isAccepted, responseUrl }) => {
      const job = jobs.find((one) => one.id === id);
      if (!job) return isAccepted ? [`the command of ${id} is lost`] : [];
      // The title changes if a person links an issue to the defect.
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

  /** A person's change stays until the issue's own value changes. */
  #overwritten(): string[] {
    // Without GitHub, of two states of the same second, the one that arrived last counts, even if GitHub sent it first.
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
