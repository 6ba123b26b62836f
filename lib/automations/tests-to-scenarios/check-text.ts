import type { CheckRun } from '../../platforms/github/checks/check-runs.ts';
import { plainText } from '../../platforms/github/plain-text.ts';
import { counted } from '../../text.ts';
import type { WorkflowRun } from './draft.ts';
import type { RunResults } from './read-run.ts';
import type { ScenarioResult } from './tally.ts';

/** A scenario, and what became of its results. One that has to be sent again was sent. */
export interface ToldScenario extends ScenarioResult {
  became: keyof typeof BECAME | { until: number };
}

const BECAME = {
  sent: 'sent',
  'as before': 'not sent: it is as it was sent before',
  newer: 'not sent: a newer run has results of it',
  'not whole': 'not sent: the results of this run are not complete, so its other tests may have failed',
  'all skipped': 'not sent: all of its tests were skipped',
  refused: 'not sent: the service does not take it',
} as const;

export interface CheckedRun {
  run: WorkflowRun;
  results: RunResults & { old: readonly string[] };
  told: readonly ToldScenario[];
  isCounted: boolean;
  /** How many test cases get a defect. */
  defects: number;
}

/** What the check of a commit says about its test results. Everybody who sees the commit can read it. */
export function checkOf(checked: CheckedRun): Pick<CheckRun, 'conclusion' | 'title' | 'summary'> {
  const { results, told, isCounted } = checked;
  const { tests, scenarios, unmapped } = results;
  const count = tests.passed + tests.failed + tests.skipped;
  const sent = told.filter(({ became }) => became === 'sent' || typeof became === 'object').length;
  const isRefused = told.some(({ became }) => became === 'refused');
  const what = isCounted
    ? `${counted(sent, 'scenario')} sent`
    : `${counted(scenarios.length, 'scenario')} named, nothing sent`;
  const sections = [sourceOf(checked), scenariosOf(checked), ...restOf(checked)];
  return {
    conclusion: count > 0 && unmapped.count === 0 && results.unread.length === 0 && !isRefused ? 'success' : 'neutral',
    title: count === 0 ? 'No test results' : `${counted(count, 'test')}, ${tests.failed} failed; ${what}`,
    summary: sections.filter((section) => section !== '').join('\n\n'),
  };
}

function sourceOf({ run, results: { read, unread, old, tests } }: CheckedRun): string {
  const attempt = run.attempt > 1 ? `, attempt ${run.attempt}` : '';
  const lines = [
    `Run ${run.number}${attempt} of ${plainText(run.workflow)}: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped.`,
    ...unread.map(({ name, why }) => `The artifact ${plainText(name)} was not used: ${why}.`),
    ...(read.length > 0 ? [`Read from ${read.map(plainText).join(', ')}.`] : []),
    ...(old.length > 0 ? [`Not uploaded again by this attempt: ${old.map(plainText).join(', ')}.`] : []),
    ...(read.length + unread.length === 0 ? ['The run has no artifact whose name is in `tests.artifacts`.'] : []),
  ];
  return lines.join('\n');
}

function scenariosOf({ isCounted, told, results: { scenarios } }: CheckedRun): string {
  if (scenarios.length === 0) return '';
  const rows: readonly (ScenarioResult & Partial<ToldScenario>)[] = isCounted ? told : scenarios;
  const lines = rows.map(({ id, isNamed, passed, failed, skipped, coverage, became }) => {
    // Of what only the configuration says, a pull request learns nothing.
    const name = isCounted || isNamed ? `Scenario ${plainText(String(id))}` : 'A scenario';
    const several = coverage === 'several' ? '; its tests disagree about pm\\_coverage' : '';
    const fate = became === undefined ? '' : `: ${typeof became === 'object' ? BECAME.sent : BECAME[became]}`;
    return `- ${name}, ${passed} passed, ${failed} failed, ${skipped} skipped${fate}${several}`;
  });
  const why = isCounted
    ? ''
    : '\n\nNothing was sent: only pushes and schedules on the branches in `tests.branches` count.';
  return `### Mapped\n\n${lines.join('\n')}${why}`;
}

function restOf({ results: { unmapped, unreadable, leftOut }, defects }: CheckedRun): string[] {
  return [
    listOf('Unmapped', 'These tests name no scenario, case or step, so they change nothing in the service.', unmapped),
    listOf('Unreadable', 'These values of pm\\_ properties are no ids, or no percentages.', unreadable),
    leftOut === 0 ? '' : `${counted(leftOut, 'result')} left out: a run takes 200 scenarios and 500 test cases.`,
    defects === 0 ? '' : `${counted(defects, 'test case')} failed in two runs in a row: a defect is made.`,
  ];
}

function listOf(title: string, why: string, { count, first }: { count: number; first: readonly string[] }): string {
  if (count === 0) return '';
  const more = count > first.length ? `\n- and more: ${count} in all` : '';
  return `### ${title}: ${count}\n\n${why}\n\n${first.map((text) => `- ${plainText(text)}`).join('\n')}${more}`;
}
