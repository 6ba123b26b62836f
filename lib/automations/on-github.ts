import { on as checkPullRequest } from './check-pull-request/on.ts';
import { on as completeChecklistItem } from './complete-checklist-item/on.ts';
import type { OurGithubTrigger } from './github-trigger.ts';
import { on as issueToDefect } from './issue-to-defect/on.ts';
import { on as issueToTask } from './issue-to-task/on.ts';
import { on as relate } from './relate/on.ts';
import { on as testsToScenarios } from './tests-to-scenarios/on.ts';

/**
 * The GitHub triggers of the built-in automations, in the order in which they see an event. Add the `on` of a new one
 * here.
 */
export const onGithubOfOurs: readonly OurGithubTrigger[] = [
  issueToDefect,
  issueToTask,
  completeChecklistItem,
  relate,
  checkPullRequest,
  testsToScenarios,
].flat();
