import type { IssueToDefectConfig } from '../config/schema.ts';
import { digest } from '../digest.ts';
import type { GithubIssue } from '../github/issue.ts';
import type { IssueState } from '../links/issue-state.ts';
import type { Applied } from '../links/link-life.ts';
import { cutToBytes } from '../text.ts';

/** @param repository `owner/name` */
export function issueState(issue: GithubIssue, repository: string, config: IssueToDefectConfig): IssueState {
  return {
    name: `${repository}#${issue.number}`,
    title: issue.title,
    // An item holds 400 KB, and nobody sees more of the body than the description has room for.
    body: cutToBytes(issue.body ?? '', config.maxDescriptionBytes + 1_000, ''),
    author: issue.user ? `@${issue.user.login}` : 'a deleted account',
    url: issue.html_url,
    state: issue.state ?? 'open',
    stateReason: issue.state_reason ?? null,
    labels: (issue.labels ?? []).map((label) => label.name).sort(),
  };
}

/** The fields of a defect (docs/partner-api.md#operations). */
export interface DefectFields {
  title: string;
  description: string;
  type?: string;
  priority?: string;
  severity?: string;
}

/** Whether the issue has a label that makes it a defect. */
export function isDefect(labels: readonly string[], config: IssueToDefectConfig): boolean {
  return config.labels.some(isAmong(labels));
}

/**
 * What the defect of an issue looks like.
 *
 * @param marker the text by which the defect is found again; it is always the description's end
 */
export function defectFields(issue: IssueState, marker: string, config: IssueToDefectConfig): DefectFields {
  const closed = issue.state === 'closed';
  const whileClosed = closed && typeof config.whenClosed === 'object' ? config.whenClosed.set : {};
  const fields: DefectFields = { title: issue.title, description: description(issue, marker, config) };
  for (const field of ['type', 'priority', 'severity'] as const) {
    const value = whileClosed[field] ?? chosenByLabel(issue.labels, config[field]);
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/**
 * The fields as a link keeps them, to find out later which have changed. The description may have 48 KB, and DynamoDB
 * charges each write by the size of its item, so it is kept as a digest.
 */
export function appliedOf(fields: DefectFields): Applied {
  return { ...fields, description: digest(fields.description) };
}

/**
 * The fields that an update must send: those that differ from what was applied last, and those that nobody knows. So
 * what people change in the service stays until the issue's own value changes.
 */
export function fieldsToSend(
  fields: DefectFields,
  applied: Applied | string | undefined,
  unknown: readonly string[],
): Partial<DefectFields> {
  if (applied === undefined) return fields;
  if (typeof applied === 'string') return applied === digest(fields) && unknown.length === 0 ? {} : fields;
  const wanted = appliedOf(fields);
  return Object.fromEntries(
    Object.entries(fields).filter(([field]) => wanted[field] !== applied[field] || unknown.includes(field)),
  );
}

/** GitHub's labels know no letter case. */
function isAmong(labels: readonly string[]): (label: string) => boolean {
  const known = new Set(labels.map((label) => label.toLowerCase()));
  return (label) => known.has(label.toLowerCase());
}

function chosenByLabel(labels: readonly string[], choice: IssueToDefectConfig['type']): string | undefined {
  const has = isAmong(labels);
  const chosen = Object.entries(choice.labels).find(([label]) => has(label));
  return chosen ? chosen[1] : choice.default;
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
  const room = config.maxDescriptionBytes - Buffer.byteLength(`\n\n---\n${footer}`);
  return `${cutToBytes(body, room, '\n\n[Cut here; the whole text is in the issue.]')}\n\n---\n${footer}`;
}
