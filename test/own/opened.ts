import { github } from 'partner-relay';
import * as z from 'partner-relay/zod';

/** Takes each opened issue, and keeps its title. */
export const opened = github('issues.opened', {
  input: { title: z.string() },
  job: ({ issue }) => ({ happened: [issue.id], input: { title: issue.title } }),
});
