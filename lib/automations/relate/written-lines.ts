import { closedIssues, type RelationLine, relationLines } from '../../commands/relation-lines.ts';
import { findRepository } from '../../config/settings.ts';
import { type Account, unprovenAuthor } from '../../platforms/github/association.ts';
import type { Payload } from '../../platforms/github/payload.ts';
import { cutToLength } from '../../text.ts';
import { type About, issuePlace, type OurDrafts } from '../github-trigger.ts';
import { reportedState } from '../issue-to-defect/defect-text.ts';
import { issueEntity } from '../issue-to-defect/jobs.ts';
import type { RelateInput } from './jobs.ts';

/** How many lines of one text, and how many of the issues that it closes, are read. */
const MOST_LINES = 10;

/** Where the lines are written, and the issue whose defect they concern. */
interface RelationSource {
  issue: string;
  place: ReturnType<typeof issuePlace>;
  happened: readonly (string | number)[];
  at: string | null | undefined;
}

/** An issue or a pull request, and the person who changed it last. */
interface Written {
  body?: string | null | undefined;
  user?: Account;
  author_association?: string | null | undefined;
  sender: Account;
  /** For an edit: the previous text. */
  edit: { from?: string | null | undefined } | null | undefined;
}

/**
 * When an issue should get a defect, its author's permission decides about the lines. Later, the editor's permission
 * decides.
 */
export function relationsOfIssue(payload: Payload<'issues'>, { repository }: About): OurDrafts<RelateInput> {
  const { action, issue, sender, changes, installation } = payload;
  const { full_name } = payload.repository;
  if (!repository.issueToDefect) return undefined;
  const edit = action === 'edited' ? changes?.body : undefined;
  const isNew = action === 'opened' || action === 'labeled';
  const becomesDefect = isNew && reportedState(issue, full_name, repository.issueToDefect).wanted;
  if (!edit && !becomesDefect) return undefined;
  const source = {
    place: issuePlace(repository, full_name, issue.number, installation),
    issue: issueEntity(issue.id),
    happened: [issue.id, issue.updated_at],
    at: issue.updated_at,
  };
  return linesOf({ ...issue, sender, edit }, source);
}

/**
 * The lines count only once the pull request is merged: GitHub closes the issues then, and a link cannot be removed.
 */
export function relationsOfMerge(
  payload: Payload<'pull_request'>,
  { repository, config }: About,
): OurDrafts<RelateInput> {
  const { action, pull_request: pull, sender, changes, installation } = payload;
  const { full_name } = payload.repository;
  const edit = action === 'edited' ? changes?.body : undefined;
  const isIn = pull.merged && pull.base.ref === pull.base.repo.default_branch;
  if (!isIn || !(action === 'closed' || edit)) return undefined;
  const issues = closedIssues(pull.body ?? '', full_name, pull.html_url).filter(
    (name) => findRepository(config, name.replace(/#.*/, ''))?.connection === repository.connection,
  );
  const place = issuePlace(repository, full_name, pull.number, installation);
  const happened = ['pull request', pull.id, ...(edit ? [pull.updated_at] : [])];
  const at = edit ? pull.updated_at : pull.merged_at;
  return issues
    .slice(0, MOST_LINES)
    .flatMap((issue) => linesOf({ ...pull, sender, edit }, { issue, place, at, happened: [...happened, issue] }));
}

function linesOf({ body, user, author_association, sender, edit }: Written, source: RelationSource) {
  const [now, before] = [relationLines(body ?? ''), relationLines(edit?.from ?? '')];
  const isIn = (some: readonly RelationLine[], line: RelationLine) =>
    some.some(({ kind, named }) => kind === line.kind && named === line.named);
  const association = !edit || sender?.login === user?.login ? author_association : undefined;
  const unproven = unprovenAuthor(edit ? sender : user, association);
  return now
    .filter((line) => !isIn(before, line))
    .slice(0, MOST_LINES)
    .map(({ kind, named }) => ({
      ...source.place,
      happened: [...source.happened, kind, named],
      at: source.at,
      summary: `${source.place.entity} names ${kind} ${cutToLength(named, 100, '…')}`,
      input: { issue: source.issue, to: { kind, named } },
      ...(unproven && { asked: { unproven } }),
    }));
}
