import { isDefect } from '../../automations/issue-to-defect/defect-text.ts';
import { issueEntity } from '../../automations/issue-to-defect/draft.ts';
import { type RelateInput, relateJobs } from '../../automations/relate/draft.ts';
import { closedIssues, type RelationLine, relationLines } from '../../commands/relation-lines.ts';
import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig, RepositoryConfig } from '../../config/schema.ts';
import type { JobDraft } from '../../engine/record/job.ts';
import { type Account, unprovenAuthor } from '../../platforms/github/association.ts';
import { readIssuesPayload, subIssuesPayload } from '../../platforms/github/issue.ts';
import { readPayload } from '../../platforms/github/payload.ts';
import { pullRequestPayload } from '../../platforms/github/pull-request.ts';
import { cutToLength } from '../../text.ts';
import { issuePlace } from './issue-place.ts';
import type { Taken } from './taken.ts';

/** The lines of one text that are read. */
const MOST_LINES = 10;

/** A text with lines, or the change of one. */
interface WrittenText {
  settings: RepositoryConfig;
  place: ReturnType<typeof issuePlace>;
  defect: RelateInput['defect'];
  /** Identifies the text and its version. */
  happened: readonly (string | number)[];
  now: string | null | undefined;
  /** For an edit: the text before it. */
  before?: string | null | undefined;
  /** The person who wrote it, or who edited it. */
  author: Account;
  association?: string | null | undefined;
}

/**
 * The lines of an issue count by its author, when it is to have a defect: when it is opened with the label, or gets it.
 * Those that an edit adds or removes count by the person who edits.
 */
export function takeIssueRelations(payload: unknown, config: RelayConfig): Taken | undefined {
  const { action, issue, sender, changes, repository, installation } = readIssuesPayload(payload);
  const settings = findRepository(config, repository.full_name);
  if (!settings?.issueToDefect) return undefined;
  const isEdit = action === 'edited' && changes?.body;
  const labels = (issue.labels ?? []).map(({ name }) => name);
  const isNew = (action === 'opened' || action === 'labeled') && isDefect(labels, settings.issueToDefect);
  if (!isEdit && !isNew) return undefined;
  const place = issuePlace(settings, repository.full_name, issue.number, installation);
  const entity = issueEntity(issue.id);
  const defect = { entity };
  const text = { settings, place, defect, happened: [issue.id, issue.updated_at], now: issue.body };
  const { user: author, author_association: association } = issue;
  const jobs = isEdit
    ? linesOf({ ...text, before: changes.body?.from, author: sender, ...(sameAs(sender, author) && { association }) })
    : linesOf({ ...text, author, association });
  const parent = isNew ? issueAt(issue.parent_issue_url) : undefined;
  const inherited = parent && toParent({ ...text, parent }, config);
  if (inherited) jobs.push(inherited);
  return jobs.length === 0 ? undefined : { happenedAt: Date.parse(issue.updated_at), jobs };
}

/** As GitHub closes the issues only then, and no link can be taken back, the lines count from the merge on. */
export function takeMergedRelations(payload: unknown, config: RelayConfig): Taken | undefined {
  const {
    action,
    pull_request: pull,
    sender,
    changes,
    repository,
    installation,
  } = readPayload('pull_request', pullRequestPayload, payload);
  const settings = findRepository(config, repository.full_name);
  const isIn = pull.merged && pull.base.ref === pull.base.repo.default_branch;
  const isEdit = action === 'edited' && changes?.body;
  if (!settings || !isIn || !(action === 'closed' || isEdit)) return undefined;
  const closed = closedIssues(pull.body ?? '', repository.full_name).filter(
    (name) => findRepository(config, name.replace(/#.*/, ''))?.connection === settings.connection,
  );
  if (closed.length === 0) return undefined;
  const place = issuePlace(settings, repository.full_name, pull.number, installation);
  const text = { settings, place, defect: { closed }, now: pull.body };
  const { user: author, author_association: association } = pull;
  const jobs = isEdit
    ? linesOf({
        ...text,
        happened: ['pull request', pull.id, pull.updated_at],
        before: changes.body?.from,
        author: sender,
        ...(sameAs(sender, author) && { association }),
      })
    : linesOf({ ...text, happened: ['pull request', pull.id], author, association });
  const at = isEdit ? pull.updated_at : pull.merged_at;
  return jobs.length === 0 ? undefined : { happenedAt: at ? Date.parse(at) : undefined, jobs };
}

/** GitHub tells both issues of it, so the job is named after both. */
export function takeSubIssue(payload: unknown, config: RelayConfig): Taken | undefined {
  const { action, parent_issue, sub_issue: issue, installation } = readPayload('sub_issues', subIssuesPayload, payload);
  const [at, parent] = [issueAt(issue.html_url), issueAt(parent_issue.html_url)];
  const settings = at && findRepository(config, at.repository);
  if (!at || !parent || !settings?.issueToDefect || !settings.relate || !/_added$/.test(action)) return undefined;
  const job = toParent(
    {
      settings,
      place: issuePlace(settings, at.repository, issue.number, installation),
      defect: { entity: issueEntity(issue.id) },
      happened: [issue.id, issue.updated_at],
      parent,
    },
    config,
  );
  return job && { happenedAt: Date.parse(issue.updated_at), jobs: [job] };
}

function linesOf({ place, defect, happened, now, before, author, association }: WrittenText): JobDraft[] {
  const [lines, earlier] = [relationLines(now ?? ''), relationLines(before ?? '')];
  const isIn = (some: readonly RelationLine[], { kind, named }: RelationLine) =>
    some.some((one) => one.kind === kind && one.named === named);
  const added = lines.filter((line) => !isIn(earlier, line));
  const removed = earlier.filter((line) => !isIn(lines, line));
  const unproven = unprovenAuthor(author, association);
  const draft = ({ kind, named }: RelationLine, isRemoved: boolean) =>
    relateJobs.draft({
      ...place,
      happened: [...happened, isRemoved ? 'removed' : 'added', kind, named],
      summary: `${place.entity} ${isRemoved ? 'no longer names' : 'names'} ${kind} ${cutToLength(named, 100, '…')}`,
      input: { defect, to: { kind, named, ...(isRemoved && { removed: true as const }) } },
      ...(unproven && { asked: { unproven } }),
    });
  return [
    ...added.slice(0, MOST_LINES).map((line) => draft(line, false)),
    ...removed.slice(0, MOST_LINES).map((line) => draft(line, true)),
  ];
}

type Inherited = Pick<WrittenText, 'settings' | 'place' | 'defect' | 'happened'> & { parent: IssueAddress };

/** @returns undefined if tasks of the parent's repository are not those of the issue's connection */
function toParent({ settings, place, defect, happened, parent }: Inherited, config: RelayConfig): JobDraft | undefined {
  const above = findRepository(config, parent.repository);
  if (!above?.relate || above.connection !== settings.connection) return undefined;
  const name = `${parent.repository}#${parent.issueNumber}`;
  return relateJobs.draft({
    ...place,
    happened: [...happened, 'parent', name],
    summary: `${place.entity} is a sub-issue of ${name}`,
    input: { defect, to: { parent } },
  });
}

interface IssueAddress {
  repository: string;
  issueNumber: number;
}

/** The issue of an address on GitHub, or in its REST API. */
function issueAt(url: string | null | undefined): IssueAddress | undefined {
  const [, repository, number] = /([\w.-]+\/[\w.-]+)\/issues\/(\d+)$/.exec(url ?? '') ?? [];
  return repository === undefined ? undefined : { repository, issueNumber: Number(number) };
}

const sameAs = (one: Account, other: Account) => one && one.login === other?.login;
