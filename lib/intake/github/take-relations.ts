import type { RepositoryEvent, Taken } from './taken.ts';

/** JSON that may have such a line. Reading it takes a parser that a cold start should not load. */
const MAY_RELATE = /(?:task|case|step)[\W_]{0,9}:/i;

/** Links the defect of an issue to what the lines `Task: …`, `Test case: …` and `Test step: …` of the issue name. */
export async function takeIssueRelations(event: RepositoryEvent<'issues'>): Promise<Taken | undefined> {
  if (!mayRelate(event, event.payload.issue.body)) return undefined;
  return (await import('./in-texts.ts')).relationsOfIssue(event);
}

/** Links the defects of the issues that a pull request closes to what such lines of the pull request name. */
export async function takeMergedRelations(event: RepositoryEvent<'pull_request'>): Promise<Taken | undefined> {
  if (!mayRelate(event, event.payload.pull_request.body)) return undefined;
  return (await import('./in-texts.ts')).relationsOfMerge(event);
}

const mayRelate = ({ repository }: { repository: { relate: boolean } }, text: string | null | undefined) =>
  repository.relate && MAY_RELATE.test(text ?? '');
