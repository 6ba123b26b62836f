import type { issueEvent } from '../issue-events.ts';

type IssueEvent = ReturnType<typeof issueEvent>;

/** The events of both repositories about a transfer, the old one first. @param next the issue in its new place */
export function transferOf(old: IssueEvent, next: IssueEvent) {
  const went = { ...old, action: 'transferred', changes: { new_issue: next.issue, new_repository: next.repository } };
  return [went, { ...next, changes: { old_issue: old.issue, old_repository: old.repository } }] as const;
}
