import type { Automation } from './automation.ts';
import { type IssueToDefectOptions, issueToDefect, takeIssue } from './issue-to-defect.ts';

/** What the GitHub webhook asks of every delivery; kept apart from the running, whose code a webhook does not need. */
export const githubTakers: readonly Automation['take'][] = [takeIssue];

/** Every automation by its name. A new one is added here. */
export function createAutomations(options: IssueToDefectOptions): ReadonlyMap<string, Automation> {
  return new Map([issueToDefect(options)].map((automation) => [automation.name, automation]));
}
