import { InLine, RetryAt, StepFailed } from '../../engine/record/interruption.ts';
import type { CheckRun } from '../../platforms/github/checks/check-runs.ts';
import { plainText } from '../../platforms/github/plain-text.ts';
import { enumerated } from '../../text.ts';

/**
 * The result of a check. Everybody may read it, so it reveals no more about tracked work than the pull request does.
 */
export type Verdict = Pick<CheckRun, 'title' | 'summary'> & { conclusion: 'success' | 'neutral' | 'failure' };

const HOW =
  'Write `Closes #12` for an issue that has a defect, or a line `Task: <id>`, into the description. The check then runs ' +
  'again. If you changed the issue or the task instead, press **Re-run**.';

const verdict = (conclusion: Verdict['conclusion'], title: string, summary: string): Verdict => ({
  conclusion,
  title,
  summary,
});

export const ofBot = verdict('neutral', 'Exempt: its author is a bot', 'Pull requests of bots are not checked.');

export const inMergeQueue = verdict(
  'success',
  'Checked before it was queued',
  'A pull request is checked before it joins the merge queue, so there is nothing to check here.',
);

/** @param elsewhere the issues of other repositories that it closes. @param byName the tasks that it names without their ids */
export function namesNothing(elsewhere: readonly string[] = [], byName: readonly string[] = []): Verdict {
  if (elsewhere.length > 0) {
    const why = `Only issues of this repository count, and not ${plainText(enumerated(elsewhere))}.`;
    return verdict('failure', 'It closes no issue of this repository', `${why} ${HOW}`);
  }
  const title =
    byName.length > 0 ? 'It names a task without its id' : 'It names no task and closes no issue with a defect';
  return verdict('failure', title, HOW);
}

export const ofStranger = verdict(
  'neutral',
  'Not verified: its author is not a collaborator',
  'Partner Relay looks up tracked work only for people who can triage in this repository. One of them can ' +
    'press **Re-run** on this check to have it verified.',
);

export const ofOtherBase = verdict(
  'neutral',
  'Not checked: its base is not the default branch',
  'A merge there closes no issue. Only pull requests into the default branch are checked.',
);

const STRICTNESS = { success: 0, neutral: 1, failure: 2 } as const;

/**
 * The verdict for a commit, which may be the head of several pull requests.
 * @param all the numbers of these pull requests
 */
export function ofCommit(
  decided: readonly { number: number; verdict: Verdict }[],
  all: readonly number[],
  counts: 'strictest' | 'best',
): Verdict {
  const byResult = decided.toSorted((a, b) => STRICTNESS[a.verdict.conclusion] - STRICTNESS[b.verdict.conclusion]);
  const one = counts === 'best' ? byResult[0] : byResult.at(-1);
  if (!one || all.length === 1) return one?.verdict ?? namesNothing();
  const numbers = enumerated(all.map(String));
  const why = `Several pull requests have this commit: ${numbers}. The ${counts} result counts; it is that of ${one.number}.`;
  return { ...one.verdict, summary: `${one.verdict.summary}\n\n${why}` };
}

export const exempt = (label: string): Verdict =>
  verdict('neutral', 'Exempt by a label', `The label ${plainText(label)} exempts it.`);

export const closesTracked = (issue: string): Verdict =>
  verdict('success', 'It is tracked', `It closes ${plainText(issue)}, which has a defect.`);

export const closesPending = (issue: string): Verdict =>
  verdict('neutral', 'Its defect is being created', `It closes ${plainText(issue)}, whose defect is not created yet.`);

export const namesTask = (id: string): Verdict =>
  verdict('success', 'It is tracked', `It names the task ${plainText(id)}, which exists.`);

/** The text is the same for a missing task and for a task that the relay's key cannot see. */
export const nothingFound = (named: readonly string[]): Verdict =>
  verdict(
    'failure',
    'Its task or issue was not found',
    `Partner Relay found nothing for ${plainText(enumerated(named))}. ${HOW}`,
  );

/**
 * The verdict for a check that could not be verified: it passes for now.
 * @param attempts how often the job failed before
 * @returns undefined for a failure that is over within seconds
 */
export function failsOpen(error: unknown, attempts: number): Verdict | undefined {
  if (error instanceof RetryAt && error.waitsFor === 'pause') return undefined;
  if (error instanceof StepFailed && attempts === 0) return undefined;
  const isWait = error instanceof RetryAt || error instanceof InLine;
  const why =
    isWait && error.waitsFor === 'budget'
      ? 'Partner Relay needs its calls to the service for other work first.'
      : 'The service cannot be reached at the moment.';
  return verdict('neutral', 'Not verified yet', `${why} The check passes for now, and is updated later.`);
}
