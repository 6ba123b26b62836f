import type { IssueToDefectConfig } from '../../config/schema.ts';
import { digestFields } from '../../digest.ts';
import type { SentFields } from '../../engine/record/journal.ts';
import { markerIn } from '../../engine/record/markers.ts';
import type { IssueState } from '../../links/issue-state.ts';
import type { Applied, Defect, ReportedState } from '../../links/link-life.ts';
import type { GithubIssue } from '../../platforms/github/payload.ts';
import { cutToBytes } from '../../text.ts';
import { withFooter } from '../described.ts';

/** @param repository `owner/name` */
function issueState(issue: GithubIssue, repository: string, config: IssueToDefectConfig): IssueState {
  return {
    name: `${repository}#${issue.number}`,
    title: issue.title,
    // A DynamoDB item holds 400 KB, and the description shows only this much of the body.
    body: cutToBytes(issue.body ?? '', config.maxDescriptionBytes + 1_000, ''),
    author: issue.user ? `@${issue.user.login}` : 'a deleted account',
    url: issue.html_url,
    createdAt: issue.created_at,
    state: issue.state ?? 'open',
    stateReason: issue.state_reason ?? null,
    labels: (issue.labels ?? []).map((label) => label.name).sort(),
    ...(issue.type && { type: issue.type.name }),
  };
}

/** The state of an issue as GitHub reports it, in the form of the link. @param repository `owner/name` */
export function reportedState(issue: GithubIssue, repository: string, config: IssueToDefectConfig): ReportedState {
  const state = issueState(issue, repository, config);
  return { state, name: state.name, version: issue.updated_at, wanted: isDefect(state.labels, config) };
}

/** The fields of a defect (docs/partner-api.md#operations). */
export interface DefectFields {
  title: string;
  description: string;
  type?: string;
  priority?: string;
  severity?: string;
}

/** True if the issue has a label that makes it a defect. */
export function isDefect(labels: readonly string[], config: IssueToDefectConfig): boolean {
  return config.labels.some(isAmong(labels));
}

/**
 * The fields of an issue's defect.
 *
 * @param marker the text that identifies the defect in a search; always at the end of the description
 */
export function defectFields(issue: IssueState, marker: string, config: IssueToDefectConfig): DefectFields {
  const closed = issue.state === 'closed';
  const whileClosed = closed && typeof config.whenClosed === 'object' ? config.whenClosed.set : {};
  const fields: DefectFields = { title: issue.title, description: description(issue, marker, config) };
  for (const field of ['type', 'priority', 'severity'] as const) {
    const value = whileClosed[field] ?? chosenFor(issue, config[field]);
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/** The fields of the defect itself among those that a creation sent. */
export function appliedOf({ project_id, ...fields }: SentFields): Applied {
  return fields;
}

/**
 * The fields that an update must send: fields that differ from what was applied last, and fields whose last value is
 * unknown. So changes that people make in the service stay until the issue's own value changes.
 * @param now epoch milliseconds; fields that an unanswered update may still change after that are sent later
 */
export function fieldsToSend(
  fields: DefectFields,
  { applied, updating, doubtful }: Pick<Defect, 'applied' | 'updating' | 'doubtful'>,
  now: number,
): Partial<DefectFields> {
  const settled = doubtful && doubtful.until <= now ? doubtful.fields : [];
  const unknown = [...(updating?.fields ?? []), ...settled];
  const wanted = digestFields(fields);
  return Object.fromEntries(
    Object.entries(fields).filter(([field]) => wanted[field] !== applied[field] || unknown.includes(field)),
  );
}

/** GitHub's labels are case-insensitive. */
function isAmong(labels: readonly string[]): (label: string) => boolean {
  const known = new Set(labels.map((label) => label.toLowerCase()));
  return (label) => known.has(label.toLowerCase());
}

function chosenFor({ labels, type }: IssueState, choice: IssueToDefectConfig['type']): string | undefined {
  const ofIssue = (names: readonly string[], values: Readonly<Record<string, string>>) =>
    Object.entries(values).find(([name]) => isAmong(names)(name))?.[1];
  return ofIssue(labels, choice.labels) ?? ofIssue(type ? [type] : [], choice.types) ?? choice.default;
}

function description(issue: IssueState, marker: string, config: IssueToDefectConfig): string {
  const state = issue.stateReason ? `${issue.state} (${issue.stateReason.replaceAll('_', ' ')})` : issue.state;
  const footer = [
    `GitHub issue ${issue.name} by ${issue.author}: ${issue.url}`,
    ...(config.whenClosed === 'leave' ? [] : [`State: ${state}`]),
    ...(isDefect(issue.labels, config) ? [] : [`No longer labelled ${config.labels.join(' or ')}.`]),
    marker,
  ].join('\n');
  const body = issue.body === '' ? '(The issue has no text.)' : issue.body;
  return withFooter(body, footer, config.maxDescriptionBytes, '\n\n[Cut here; the whole text is in the issue.]');
}

/** The last lines of a description. People can write such lines, too. */
export interface Footer {
  /** `acme/web#42` */
  issue: string;
  marker: string;
}

/** The optional lines of {@link description} stand between the issue's address and the marker. */
const ADDRESS = /(?:^|\n)---\nGitHub issue ([\w.-]+\/[\w.-]+#\d+) by [^\n]*\n(?:(?:State|No longer)[^\n]*\n)*$/;

/** @returns undefined if the text does not end like the description of an issue's defect */
export function footerOf(text: unknown): Footer | undefined {
  const marker = markerIn(text);
  if (marker === undefined) return undefined;
  const lines = String(text).replaceAll('\r\n', '\n');
  const [, issue] = ADDRESS.exec(lines.slice(0, lines.lastIndexOf(marker))) ?? [];
  return issue === undefined ? undefined : { issue, marker };
}
