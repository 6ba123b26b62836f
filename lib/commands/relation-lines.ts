import { type TargetKind, targetKinds } from '../target.ts';
import { shownParagraphs } from './markdown.ts';
import { idIn, unquoted, withSingleBlanks } from './words.ts';

/** A line that names an object to which the defect of an issue is linked. */
export interface RelationLine {
  kind: TargetKind;
  /** The id; for a task, the id or the name. */
  named: string;
}

const LINE = /^(task|test case|test step)\s?:\s?([^\ufffc]+)$/iu;
const MAX_NAME_LENGTH = 255;
/** https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue */
const CLOSES =
  /(?<![\p{L}\p{N}\p{M}\p{Cf}_/-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+(?:https?:\/\/([^/\s]+)\/([\w.-]+\/[\w.-]+)\/issues\/|([\w.-]+\/[\w.-]+)?#)([1-9]\d*)(?![\w/#\ufffc\p{Cf}\p{M}]|[-.]\w)/giu;

/** Returns the visible lines `Task: …`, `Test case: <id>` and `Test step: <id>`, in order and without duplicates. */
export function relationLines(body: string): RelationLine[] {
  const found = new Map<string, RelationLine>();
  for (const { text } of shownParagraphs(body).flatMap(({ lines }) => lines)) {
    const [, word = '', value = ''] = LINE.exec(withSingleBlanks(text)) ?? [];
    const kind = targetKinds.find((one) => one === word.toLowerCase());
    const named = kind === 'task' ? taskIn(value) : idIn(value);
    if (kind && named !== undefined) found.set(`${kind} ${named}`, { kind, named });
  }
  return [...found.values()];
}

function taskIn(value: string): string | undefined {
  const name = unquoted(value);
  return idIn(value) ?? (name !== '' && name.length <= MAX_NAME_LENGTH ? name : undefined);
}

/**
 * Returns the issues, such as `acme/web#42`, that GitHub closes when a pull request with this text is merged. Keeps
 * invisible characters, because GitHub ignores a reference that contains one.
 *
 * @param page the pull request's address; addresses of issues on other hosts are not references
 */
export function closedIssues(body: string, repository: string, page = 'https://github.com'): string[] {
  const own = new URL(page).host;
  const lines = shownParagraphs(body).flatMap(({ lines }) => lines);
  const closed = lines.flatMap(({ unlinked }) =>
    [...unlinked.matchAll(CLOSES)].flatMap(([, host = own, byUrl, byName, number]) =>
      host.toLowerCase() === own ? `${byUrl ?? byName ?? repository}#${number}` : [],
    ),
  );
  return [...new Set(closed)];
}
