import { type TargetKind, targetKinds } from '../target.ts';
import { shownParagraphs } from './markdown.ts';
import { idIn, unquoted, withSingleBlanks } from './words.ts';

/** A line of a text that names what the defect of its issue belongs to. */
export interface RelationLine {
  kind: TargetKind;
  /** The id; for a task, its id or its name. */
  named: string;
}

const LINE = /^(task|test case|test step)\s?:\s?([^\ufffc]+)$/iu;
const MAX_NAME_LENGTH = 255;
/** https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue */
const CLOSES =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:https:\/\/[^/\s]+\/([\w.-]+\/[\w.-]+)\/issues\/|([\w.-]+\/[\w.-]+)?#)(\d+)\b/gi;

/** The lines `Task: …`, `Test case: <id>` and `Test step: <id>` that a reader sees, in order and without duplicates. */
export function relationLines(body: string): RelationLine[] {
  const found = new Map<string, RelationLine>();
  for (const text of shownLines(body)) {
    const [, word = '', value = ''] = LINE.exec(text) ?? [];
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

/** The issues that GitHub closes when a pull request of the repository with this text is merged: `acme/web#42`. */
export function closedIssues(body: string, repository: string): string[] {
  const closed = shownLines(body).flatMap((line) =>
    [...line.matchAll(CLOSES)].map(([, byUrl, byName, number]) => `${byUrl ?? byName ?? repository}#${number}`),
  );
  return [...new Set(closed)];
}

const shownLines = (body: string) =>
  shownParagraphs(body).flatMap(({ lines }) => lines.map(({ text }) => withSingleBlanks(text)));
