import { exampleOf } from '../issue-events.ts';

type Fields = Record<string, unknown>;

/** GitHub's example of a new comment by a collaborator, with another number and text. */
export function commentPayload(number: number, body: string): Fields {
  const example = exampleOf('issue_comment', 'created');
  return {
    ...example,
    issue: { ...(example.issue as Fields), number },
    comment: { ...(example.comment as Fields), id: 600_000 + number, created_at: '2026-11-20T09:59:58Z', body },
  };
}

/** GitHub's example of a closed pull request, merged, with another number and text. */
export function mergedPayload(number: number, body: string) {
  const example = exampleOf('pull_request', 'closed');
  const pull: Fields & { base?: Fields } = {
    ...(example.pull_request as Fields),
    id: 700_000 + number,
    number,
    body,
    merged: true,
  };
  return { ...example, number, pull_request: pull };
}

/** The commit of a pull request. */
export const shaOf = (number: number) => String(number).padStart(40, '0');

/** GitHub's example of a new pull request by the owner, with another number and text. */
export function pullPayload(number: number, body: string): Fields & { pull_request: Fields } {
  const example = exampleOf('pull_request', 'opened');
  const stamp = '2026-11-20T09:59:58Z';
  const changes = { id: 700_000 + number, number, body, head: { sha: shaOf(number) }, updated_at: stamp };
  return { ...example, number, pull_request: { ...(example.pull_request as Fields), ...changes } };
}
