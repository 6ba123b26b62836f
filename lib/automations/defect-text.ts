import type { IssueToDefectConfig } from '../config/schema.ts';
import { cutToBytes } from '../text.ts';

/** The newest that is known of an issue, cut down to what a defect shows of it. */
export interface IssueState {
  /** `acme/web#42` */
  name: string;
  title: string;
  body: string;
  author: string;
  url: string;
  state: string;
  stateReason: string | null;
  labels: string[];
}

/** The fields of a defect (interface document, Defect). */
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
