import { githubExamples } from '../issue-events.ts';

type Fields = Record<string, unknown>;

/** GitHub's example of a new comment, by a collaborator, with another number and text. */
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

/** GitHub's example of a new pull request, by the owner, with another number and text. */
export function pullPayload(number: number, body: string): Fields & { pull_request: Fields } {
  const example = exampleOf('pull_request', 'opened');
  const stamp = '2026-11-20T09:59:58Z';
  const head = { sha: String(number).padStart(40, '0') };
  const changes = { id: 700_000 + number, number, body, head, updated_at: stamp };
  return { ...example, number, pull_request: { ...(example.pull_request as Fields), ...changes } };
}

function exampleOf(event: string, action: string): Fields {
  const example = githubExamples
    .find(({ name }) => name === event)
    ?.examples.find(
      (one) => one.action === action && (one.repository as Fields).full_name === 'Codertocat/Hello-World',
    );
  if (!example) throw new Error(`GitHub publishes no example of ${event} with ${action}`);
  return example;
}
