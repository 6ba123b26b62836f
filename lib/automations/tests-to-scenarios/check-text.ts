import type { Fate } from '../../engine/run/newest-wins.ts';
import { onOneLine } from '../../outside.ts';
import type { CheckRun } from '../../platforms/github/checks/check-runs.ts';
import { plainText } from '../../platforms/github/plain-text.ts';
import { counted } from '../../text.ts';
import type { WorkflowRun } from './jobs.ts';
import type { RunResults } from './read-run.ts';
import type { Listed, ScenarioResult } from './tally.ts';

/** A scenario, and how its results were applied. */
export interface ShownScenario extends ScenarioResult {
  became: Exclude<Fate, { refused: string }> | 'not whole' | 'all skipped' | 'refused';
}

const BECAME = {
  sent: ': sent',
  'as before': ': not sent: nothing has changed since the last time',
  newer: ': not sent: a newer run has results for it',
  'not whole': ': not sent: the results of this run are not complete, so its other tests may have failed',
  'all skipped': ': not sent: all of its tests were skipped',
  refused: ': not sent: the service refuses it',
} as const;

interface CheckedRun {
  run: WorkflowRun;
  results: RunResults;
  shown: readonly ShownScenario[];
  /** How many test cases get a defect. */
  defects: number;
}

const plainName = (text: string) => plainText(onOneLine(text).trim());

export const isSent = ({ became }: ShownScenario) => became === 'sent' || typeof became === 'object';

/** The text of a commit's check about its test results. Everybody who sees the commit can read it. */
export function checkOf({ run, results, shown, defects }: CheckedRun) {
  const { tests, unmapped, unreadable, ignored, broken, leftOut, read, unread } = results;
  const count = tests.passed + tests.failed + tests.skipped;
  const scenarios = counted(shown.filter(isSent).length, 'scenario');
  const isGood =
    count > 0 &&
    tests.failed === 0 &&
    unmapped.count + unread.length === 0 &&
    !broken &&
    shown.every(({ became }) => became !== 'refused');
  const attempt = run.run_attempt > 1 ? `, attempt ${run.run_attempt}` : '';
  const lines = [
    `Run ${run.run_number}${attempt} of ${plainText(run.workflow)}: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped.`,
    ...unread.map(({ name, why }) => `The artifact ${plainName(name)} was not used completely: ${why}.`),
    count > 0 && read.length > 0 && `Read from ${read.map(plainName).join(', ')}.`,
    read.length + unread.length === 0 && 'The run has no artifact whose name is in `tests.artifacts`.',
    shown.length > 0 && `### Mapped\n\n${shown.map(lineOf).join('\n')}`,
    listOf('Unmapped', 'These tests name no scenario, case or step, so they change nothing in the service.', unmapped),
    listOf('Unreadable', 'These values of pm\\_ properties are not ids or percentages.', unreadable),
    broken && listOf('Broken', 'These reports are incomplete, so tests may be missing.', broken),
    listOf('Ignored', 'These files are not test reports.', ignored),
    leftOut > 0 && `${counted(leftOut, 'result')} left out: the limit of a run is 200 scenarios and 500 test cases.`,
    defects > 0 && `${counted(defects, 'test')} failed in two runs in a row: a defect is created.`,
  ];
  return {
    conclusion: isGood ? 'success' : 'neutral',
    title: count === 0 ? 'No test results' : `${counted(count, 'test')}, ${tests.failed} failed; ${scenarios} sent`,
    summary: lines.filter(Boolean).join('\n\n'),
  } satisfies Partial<CheckRun>;
}

function lineOf({ id, passed, failed, skipped, coverage, became }: ShownScenario): string {
  const several = coverage === 'several' ? '; its tests disagree about pm\\_coverage' : '';
  const fate = BECAME[typeof became === 'object' ? 'sent' : became];
  return `- Scenario ${plainText(String(id))}, ${passed} passed, ${failed} failed, ${skipped} skipped${fate}${several}`;
}

function listOf(title: string, why: string, { count, first }: Listed): string | false {
  const more = count > first.length ? `\n- and more: ${count} in total` : '';
  return (
    count > 0 && `### ${title}: ${count}\n\n${why}\n\n${first.map((text) => `- ${plainName(text)}`).join('\n')}${more}`
  );
}
