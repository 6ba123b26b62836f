import { onGithub } from '../github-trigger.ts';
import { relateJobs } from './jobs.ts';

/** Matches JSON that may contain such a line. The parser that reads it would slow down a cold start. */
const MAY_RELATE = /(?:task|case|step)[\W_]{0,9}:/i;

/**
 * Links an issue's defect to the tasks, test cases and test steps named in lines such as `Task: …` or `Test case: …`.
 */
const onIssue = onGithub('issues', relateJobs, async (payload, about) =>
  mayRelate(about, payload.issue.body) ? (await about.inTexts()).relationsOfIssue(payload, about) : undefined,
);

/** Links the defects of the issues that a pull request closes to what such lines of the pull request name. */
const onMerge = onGithub('pull_request', relateJobs, async (payload, about) =>
  mayRelate(about, payload.pull_request.body) ? (await about.inTexts()).relationsOfMerge(payload, about) : undefined,
);

export const on = [onIssue, onMerge];

const mayRelate = ({ repository }: { repository: { relate: boolean } }, text: string | null | undefined) =>
  repository.relate && MAY_RELATE.test(text ?? '');
