import * as z from 'zod/mini';
import { defineJobs } from '../../engine/record/job-kind.ts';
import { cutToBytes } from '../../text.ts';
import { issuePlace, onGithub } from '../github-trigger.ts';
import { strangerBehind } from '../issue-to-defect/on.ts';

export const issueTaskJobs = defineJobs(
  'issue-to-task',
  z.object({ projectId: z.string(), title: z.string(), url: z.string() }),
);

/** Creates a task, once, for an issue with a configured label. The task does not follow the issue. */
export const on = onGithub('issues', issueTaskJobs, (payload, { repository }) => {
  const { action, issue } = payload;
  const settings = repository.issueToTask;
  if (!settings || (action !== 'opened' && action !== 'labeled')) return undefined;
  const labels = (issue.labels ?? []).map(({ name }) => name.toLowerCase());
  if (!settings.labels.some((label) => labels.includes(label.toLowerCase()))) return undefined;
  const place = issuePlace(repository, payload.repository.full_name, issue.number, payload.installation);
  return {
    ...place,
    happened: [issue.id],
    isForGood: true,
    summary: `${place.entity} becomes a task: ${cutToBytes(issue.title, 200, '…')}`,
    input: { projectId: settings.projectId, title: cutToBytes(issue.title, 1_000, '…'), url: issue.html_url },
    stranger: strangerBehind(payload),
  };
});
