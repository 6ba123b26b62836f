import * as z from 'zod/mini';
import { findRepository } from '../../config/find-repository.ts';
import type { RelayConfig } from '../../config/schema.ts';
import type { GithubDelivery } from '../../platforms/github/delivery.ts';
import type { Taken } from './taken.ts';

/** A line that may name a task, a test case or a test step. Reading it takes a parser that a cold start should not load. */
const MAY_NAME = /^[\s>*+-]*(?:task|test (?:case|step))\s*:/im;

const written = z.nullish(z.object({ body: z.nullish(z.string()), parent_issue_url: z.nullish(z.string()) }));
const texts = z.object({
  repository: z.object({ full_name: z.string() }),
  issue: written,
  pull_request: written,
  changes: z.nullish(z.object({ body: z.nullish(z.object({ from: z.nullish(z.string()) })) })),
});

/**
 * Links the defect of an issue to what the lines `Task: …`, `Test case: …` and `Test step: …` of the issue name, or of a
 * pull request that closes it, and to the task of its parent.
 */
export async function takeRelations(delivery: GithubDelivery, config: RelayConfig): Promise<Taken | undefined> {
  const { data } = texts.safeParse(delivery.payload);
  if (!data || !findRepository(config, data.repository.full_name)?.relate) return undefined;
  const { issue, pull_request: pull, changes } = data;
  const isNamed = [issue?.body, pull?.body, changes?.body?.from].some((text) => MAY_NAME.test(text ?? ''));
  if (!isNamed && !issue?.parent_issue_url && delivery.event !== 'sub_issues') return undefined;
  const read = await import('./take-written-relations.ts');
  switch (delivery.event) {
    case 'issues':
      return read.takeIssueRelations(delivery.payload, config);
    case 'pull_request':
      return read.takeMergedRelations(delivery.payload, config);
    case 'sub_issues':
      return read.takeSubIssue(delivery.payload, config);
    default:
      return undefined;
  }
}
